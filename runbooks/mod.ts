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
export { deleteExpiredAside } from "./aside.ts";
export { checkCommand, type CommandPermission } from "./commands.ts";
export { BadRunbook, type Catalogue, loadRunbooks, type Runbook } from "./load.ts";
export { look, type LookContext, type LookResult, lookUntil } from "./look.ts";
export { matchRunbooks, type RunbookIncident } from "./match.ts";
export { BadFolder, measureUsage, planClean, type Usage } from "./plan.ts";
export {
  NotApplicable,
  type ParameterValues,
  type ResolveContext,
  type ResolvedRunbook,
  resolveRunbook,
} from "./resolve.ts";
export {
  type AllowedCommand,
  CommandsFile,
  type Look,
  ResolvedStep,
  type RunbookDocument,
  RunbookFile,
  type StepKind,
} from "./schema.ts";
export { listExpiredMarks, MARK_RETENTION_DAYS, removeMarks } from "./old_marks.ts";
export {
  canUndo,
  performStep,
  READ_ONLY_KINDS,
  type StepContext,
  type StepOutcome,
  undoStep,
  verifyStep,
} from "./step.ts";
export { deleteOldMarks, loadCatalogue, putInForce } from "./in_force.ts";
export { keepDeletingOldData } from "./forget.ts";
