/**
 * Runbooks: what may be done about an incident, as data. Each step says what it does, its bounds, how to see that it
 * worked, how to undo it, and what it must never do.
 *
 * ```ts
 * const catalogue = loadRunbooks(join(ROOT, "runbooks"), ownFolder);
 * const [runbook] = fittingRunbooks(catalogue.runbooks, incident);
 * const { steps, exceeds } = resolve(runbook, "billing", values, catalogue);
 * const happened = await performStep(steps[0], effectId, parts);
 * ```
 *
 * @module
 */
export { expireAside } from "./aside.ts";
export { type Permission, permit } from "./commands.ts";
export { BadRunbook, type Catalogue, loadRunbooks, type Runbook } from "./load.ts";
export { look, type LookParts, lookUntil, type Seen } from "./look.ts";
export { fittingRunbooks, type Incident } from "./match.ts";
export { BadFolder, planClean, type Usage, usageOf } from "./plan.ts";
export { type Circumstances, NotApplicable, type Ready, resolve, type Values } from "./resolve.ts";
export {
  type AllowedCommand,
  CommandsFile,
  type Look,
  ResolvedStep,
  type RunbookDocument,
  RunbookFile,
  type StepKind,
} from "./schema.ts";
export { MARKS_KEPT_DAYS, oldMarks, removeMarks } from "./old_marks.ts";
export {
  canUndo,
  HARMLESS,
  performStep,
  type StepHappened,
  type StepParts,
  undoStep,
  verifyStep,
} from "./step.ts";
export { catalogueOf } from "./in_force.ts";
export { keepForgetting } from "./forget.ts";
