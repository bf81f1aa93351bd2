/**
 * What an operation is, and what a call of one is given and gives.
 *
 * ```ts
 * export const operation = defineOperation<Platform>();
 * export const closeTicket = operation({ name: "tickets.close", effect: "run", access: "partner", … });
 * throw new Problem("Conflict", `Ticket ${id} is resolved already`);
 * ```
 *
 * A leaf: it imports `domain/` alone, and everyone may import it.
 * @module
 */
export type { Allowance, CallRequest, CallResult, Invoke } from "./call.ts";
export { type DryRunRequest, parseDryRun, parseDryRunHeader } from "./dry_run.ts";
export { asProblem, InvalidInput, isDatabaseAway, type Issue, Problem } from "./errors.ts";
export {
  EARLIER_HEADER,
  type GovernanceAnswer,
  governanceAnswerExample,
  GovernanceAnswerSchema,
  type GovernanceDecision,
  isGoverned,
} from "./governance.ts";
export {
  parseInput,
  parseStrings,
  type Place,
  type Places,
  refuseUnknownFields,
  withLocations,
} from "./input.ts";
export { type JsonSchema, toJsonSchema } from "./json_schema.ts";
export { similarNames } from "./similar_names.ts";
export { buildOpenApi, type OpenApiInfo } from "./openapi.ts";
export {
  type Access,
  type Call,
  type Caller,
  CallerGone,
  defineOperation,
  type Definition,
  type Delegate,
  type Door,
  type Effect,
  type Example,
  FileOutput,
  type Hints,
  JsonText,
  type LongRunning,
  type LostCall,
  type Operation,
  outputValue,
  type Recovery,
  type Scope,
  scopesOf,
  type StableInput,
  type Tier,
  TIERS,
} from "./operation.ts";
export { isSamePrincipal, nameProblem } from "./principals.ts";
export { redactSecrets } from "./secrets.ts";
export { createTimeoutSignal } from "./timeout.ts";
export { escapeInvisible, stripInvisible } from "./invisible.ts";
