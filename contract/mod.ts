/**
 * Operations, and the requests, results and errors of their calls.
 *
 * ```ts
 * export const operation = defineOperation<Platform>();
 * export const closeTicket = operation({ name: "tickets.close", effect: "run", access: "partner", … });
 * throw new Problem("Conflict", `Ticket ${id} is resolved already`);
 * ```
 *
 * A leaf: it imports `contract/domain/` and `contract/records/` alone, and everyone may import it.
 * @module
 */
export type { Allowance, CallRequest, CallResult, Invoke } from "./call.ts";
export type { SignedRequest } from "./signed_request.ts";
export {
  type CallContext,
  type Caller,
  CallerGone,
  type Door,
  type Scope,
  type Tier,
  TIERS,
} from "./caller.ts";
export {
  asProblem,
  InvalidInput,
  isDatabaseAway,
  isReceiptTimeRefused,
  type Issue,
  Problem,
} from "./errors.ts";
export {
  EARLIER_HEADER,
  type GovernanceAnswer,
  GovernanceAnswerSchema,
  type GovernanceDecision,
  hasDryRun,
  isGoverned,
} from "./governance.ts";
export {
  parseInput,
  parseStrings,
  type Places,
  unknownFieldsProblem,
  withLocations,
} from "./input.ts";
export { type JsonSchema, toJsonSchema } from "./json_schema.ts";
export { buildOpenApi, type OpenApiInfo } from "./openapi.ts";
export {
  defineOperation,
  type Effect,
  type Operation,
  scopesOf,
  shippedRuleOf,
  splitByContract,
} from "./operation.ts";
export type { Durability, LongRunning } from "./operation_durability.ts";
export {
  composedText,
  EventStream,
  FileOutput,
  JsonText,
  outputText,
  outputValue,
  type StreamEvent,
} from "./output.ts";
export { isSamePrincipal, nameProblem, normalizePrincipal } from "./principals.ts";
export type { LostCall, Recovery } from "./recovery.ts";
export { parseMarkHeaders, parseMetadata, type RequestMarks } from "./request_marks.ts";
export { escapeInvisible, redactSecrets, stripInvisible, toLine } from "./text/mod.ts";
export { SHIPPED_RULES, type ShippedRuleName } from "./shipped_rules.ts";
export { describeUnknownName, similarNames } from "./similar_names.ts";
export { createTimeoutSignal, withTimeout } from "./timeout.ts";
export {
  dateIn,
  dayBounds,
  findTimeZone,
  NoSuchTime,
  parseTime,
  printTime,
  toDate,
  zoned,
} from "./time_zones.ts";
export { TIMING, type Timing } from "./timing.ts";
