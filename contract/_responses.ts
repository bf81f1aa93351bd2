import { type ErrorName, ERRORS } from "./domain/mod.ts";
import type { Components } from "./_components.ts";
import { type Content, describeByStatus, type DescribedResponse } from "./_responses_by_status.ts";
import {
  dryRunAnswerExample,
  EARLIER_HEADER,
  governanceAnswerExample,
  GovernanceAnswerSchema,
  hasDryRun,
  isGoverned,
} from "./governance.ts";
import { type JsonSchema, toJsonSchema } from "./json_schema.ts";
import type { Operation } from "./operation.ts";

const JSON_TYPE = "application/json";
const text = (description: string): JsonSchema => ({ type: "string", description });
const object = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: "object",
  required: Object.keys(properties),
  properties,
});
const RECEIPT_ERROR = {
  error: text("What was wrong"),
  receipt_id: text("The requested id or prefix"),
};

/** Schemas of error bodies, by name. */
export const ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Error: object({ detail: text("What was wrong, and what would be right") }),
  HTTPValidationError: object({
    detail: {
      type: "array",
      items: object({
        loc: {
          type: "array",
          items: { anyOf: [{ type: "string" }, { type: "integer" }] },
          description: "path, query, header or body, then the field",
        },
        msg: text("What was wrong, for a person"),
        type: text("What was wrong, for a program"),
      }),
    },
  }),
  GuardrailsAway: object({
    error: text("What was wrong"),
    approved: { type: "boolean", const: false },
  }),
  ReceiptNotFound: object(RECEIPT_ERROR),
  AmbiguousReceipt: object({
    ...RECEIPT_ERROR,
    matches: {
      type: "array",
      items: { type: "string" },
      description: "Ids of the first receipts that fit",
    },
  }),
};

/** Kinds of errors whose body is not of the schema `Error`. */
const SCHEMA_OF: Partial<Record<ErrorName, string>> = {
  InvalidInput: "HTTPValidationError",
  ReceiptNotFound: "ReceiptNotFound",
  AmbiguousReceipt: "AmbiguousReceipt",
  GuardrailsAway: "GuardrailsAway",
};

const ID = "9f2c4b7a01d3e856";
const detail = (detail: string) => ({ detail });

/** Example of a body for each kind. */
const EXAMPLES: Readonly<Record<ErrorName, unknown>> = {
  InvalidInput: {
    detail: [{ loc: ["query", "limit"], msg: "Expected a number ≤ 200", type: "too_big" }],
  },
  Unauthenticated: detail("This needs an API key in the header x-api-key"),
  Forbidden: detail("This needs a key of tier partner, and yours is free"),
  PasskeyNeeded: detail(
    "Nothing was done yet: the rule leaves this call to people, and your passkey decides",
  ),
  Denied: detail("Governance refuses this call: tickets are frozen over the holidays"),
  NotFound: detail("There is no ticket INC-4f1d22a90b7c"),
  ReceiptNotFound: {
    error: `There is no receipt with the id or hash prefix ${ID}`,
    receipt_id: ID,
  },
  AmbiguousReceipt: {
    error: `The prefix 9f2c4b7a fits several receipts: ${ID}, 9f2c4b7a5510ce02`,
    receipt_id: "9f2c4b7a",
    matches: [ID, "9f2c4b7a5510ce02"],
  },
  ReceiptConflict: detail(
    `Cannot seal receipt ${ID} as it is already sealed with another outcome`,
  ),
  ReceiptTimeRefused: detail(
    `Cannot seal receipt ${ID}: it is dated 2021-07-01T12:00:00.000000+00:00, and the database's clock says 2026-07-01T12:00:00Z`,
  ),
  Conflict: detail("Ticket INC-4f1d22a90b7c is resolved already"),
  IdempotencyKeyReused: detail(
    "This idempotency key belongs to another call of tickets.create, with other arguments",
  ),
  StillRunning: detail("The call with this idempotency key is still running"),
  MethodNotAllowed: detail("Cannot POST /v1/health: it accepts HEAD, GET"),
  TooLarge: detail("The body is too large; at most 1048576 bytes are accepted"),
  UnsupportedMediaType: detail(
    "Cannot read a body of type text/plain; send content-type: application/json",
  ),
  RateLimited: detail("Rate limit exceeded (20/day)"),
  NotConfigured: detail("Cannot take messages of other agents: no shared token is configured"),
  Unavailable: detail("Temporal can't be reached; nothing was started"),
  GuardrailsAway: {
    error: "The guardrails can't be reached at the moment, so nothing is approved",
    approved: false,
  },
  Cancelled: detail("The client has gone"),
  OutcomeUnknown: detail(
    "APR-5b1e09c77a42 was begun, and its process ended before it was known what became of it. It may have been done",
  ),
  Internal: detail("The service failed to do this; the request id is in x-request-id"),
};

const header = (type: string, description: string) => ({ schema: { type }, description });
const COMMON_HEADERS = { "x-request-id": header("string", "Id of this request, as in the logs") };
const LIMIT_HEADERS = {
  "ratelimit-limit": header(
    "integer",
    "Requests a day of this key; higher tiers have more",
  ),
  "ratelimit-remaining": header("integer", "Requests left today"),
  "ratelimit-reset": header("integer", "Seconds until the next day begins"),
};
const RECEIPT_HEADERS = {
  "x-receipt-id": header("string", "Receipt of this call, if it was sealed"),
  "x-governance-decision": header("string", "allow, needs_approval or deny, if governance decided"),
  "x-governance-decision-id": header("string", "As in GET /v1/governance/decisions"),
  "x-governance-rule": header("string", "The rule that decided"),
};
const EARLIER_HEADERS = {
  [EARLIER_HEADER]: header(
    "string",
    "Present where the answer repeats the outcome of an earlier call, by its idempotency key or its approval: when that ended",
  ),
};
const OWN_HEADERS: Partial<Record<ErrorName, JsonSchema>> = {
  RateLimited: { ...LIMIT_HEADERS, "retry-after": header("integer", "Seconds to wait") },
  OutcomeUnknown: EARLIER_HEADERS,
  StillRunning: { "retry-after": header("integer", "Seconds to wait") },
};

/** The server's parts that responses depend on. */
export interface ResponseParts {
  readonly components: Components;
  /** True where the server takes keys, and counts calls per key. */
  readonly keys: boolean;
  /** True where the route takes a body. */
  readonly body: boolean;
}

/** Describes every response of an operation's route, by status. Responses that share a status are described as one. */
export function describeResponses<C>(operation: Operation<C>, parts: ResponseParts): JsonSchema {
  const held = parts.keys && canBeHeld(operation);
  const dryRun = parts.keys && hasDryRun(operation);
  return describeByStatus([
    outputResponse(operation, parts),
    ...(dryRun ? [dryRunResponse(parts)] : []),
    ...(held ? [heldResponse(parts.components)] : []),
    ...listErrors(operation, parts).map(errorResponse),
  ]);
}

function outputResponse<C>(operation: Operation<C>, parts: ResponseParts): DescribedResponse {
  const { summary, output, presentation, governance, example } = operation;
  const { media, status = 200 } = presentation ?? {};
  const isText = media?.startsWith("text/");
  return {
    status,
    description: summary,
    headers: {
      ...COMMON_HEADERS,
      ...(operation.effect === "read" ? {} : RECEIPT_HEADERS),
      ...(isGoverned(operation) ? EARLIER_HEADERS : {}),
      ...(parts.keys && governance?.limits?.counted !== false ? LIMIT_HEADERS : {}),
    },
    content: media
      ? { type: media, schema: { type: "string", ...(isText ? {} : { format: "binary" }) } }
      : {
        type: JSON_TYPE,
        schema: parts.components.lift(toJsonSchema(output, "output"), "output"),
        examples: { output: example.output },
      },
  };
}

/** Returns true where people can be asked first: not for their own decisions, and not for calls without a key. */
function canBeHeld<C>(operation: Operation<C>): boolean {
  const { humanControl, asksPeople } = operation.governance ?? {};
  return hasDryRun(operation) && !humanControl && !asksPeople;
}

function heldResponse(components: Components): DescribedResponse {
  return {
    status: 202,
    description: "Governance asks people first; nothing was done yet",
    headers: { ...COMMON_HEADERS, ...RECEIPT_HEADERS },
    content: governanceContent(components, { held: governanceAnswerExample }),
  };
}

function dryRunResponse({ components }: ResponseParts): DescribedResponse {
  return {
    status: 200,
    description: "With x-dry-run: what would be decided; nothing was done",
    headers: { ...COMMON_HEADERS, ...RECEIPT_HEADERS },
    content: governanceContent(components, { dry_run: dryRunAnswerExample }),
  };
}

function governanceContent(components: Components, examples: JsonSchema): Content {
  const schema = components.lift(toJsonSchema(GovernanceAnswerSchema, "output"), "output");
  return { type: JSON_TYPE, schema, examples };
}

function listErrors<C>(
  operation: Operation<C>,
  { keys, body }: ResponseParts,
): ErrorName[] {
  const { effect, presentation: { errors = [] } = {} } = operation;
  const changes = effect !== "read";
  const names = new Set<ErrorName>([
    "InvalidInput",
    "Internal",
    "Forbidden", // a foreign host, a page of another origin, or another key
    "TooLarge",
    "Unavailable",
    ...(keys && canBeHeld(operation) ? ["OutcomeUnknown"] as const : []),
    ...(keys ? ["Unauthenticated", "RateLimited"] as const : []),
    ...(keys && changes ? ["Denied", "IdempotencyKeyReused", "StillRunning"] as const : []),
    ...(body ? ["UnsupportedMediaType"] as const : []),
    ...errors as readonly ErrorName[],
  ]);
  return [...names];
}

function errorResponse(name: ErrorName): DescribedResponse {
  return {
    status: ERRORS[name].status,
    description: `${name}: ${ERRORS[name].next}`,
    headers: { ...COMMON_HEADERS, ...OWN_HEADERS[name] },
    content: {
      type: JSON_TYPE,
      schema: { $ref: `#/components/schemas/${SCHEMA_OF[name] ?? "Error"}` },
      examples: { [name]: EXAMPLES[name] },
    },
  };
}
