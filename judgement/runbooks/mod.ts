/**
 * Runbooks: repairs as data. Each step says what it does, its bounds, how to verify it, how to undo it, and what it must
 * never do.
 *
 * ```ts
 * const catalogue = loadCatalogue(config);
 * const [runbook] = matchRunbooks(catalogue.runbooks, incident);
 * const { steps, exceeds } = resolveRunbook(runbook, { service, values, catalogue, here: true });
 * const outcome = await performStep(steps[0], effectId, context);
 * ```
 *
 * Trusts: the operator who writes runbooks, the allow-list of commands and the services file.
 * Doesn't trust: texts of findings and reports, which never become part of a step.
 * @module
 */
export { BadFolder, measureUsage } from "./_files.ts";
export type { StepOutcome } from "./_outcome.ts";
export { fitsParameter, type ParameterValues } from "./_parameters.ts";
export { commandLineOf } from "./_command_step.ts";
export { checkCommand, isInterpreter } from "./commands.ts";
export { NotApplicable } from "./errors.ts";
export { fillHolders } from "./holders.ts";
export { followRunbooks, loadCatalogue, putInForce, SHIPPED_RUNBOOKS } from "./in_force.ts";
export { BadRunbook, type Catalogue, loadRunbooks, type Runbook } from "./load.ts";
export { isUnfit, matchRunbooks, type RunbookIncident } from "./match.ts";
export { planClean } from "./plan.ts";
export { type ResolveContext, resolveRunbook } from "./resolve.ts";
export { deleteOldMarks, keepDeletingOldData } from "./retention.ts";
export {
  type AllowedCommand,
  CommandsFile,
  type ObservedFacts,
  type ReleasedScript,
  ResolvedStep,
  RunbookFile,
} from "./schema.ts";
export {
  canUndo,
  performStep,
  READ_ONLY_KINDS,
  type StepContext,
  undoStep,
  verifyStep,
} from "./step.ts";
