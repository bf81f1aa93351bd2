import type { Components } from "./_components.ts";
import { type ErrorName, ERRORS } from "../domain/mod.ts";
import { type JsonSchema, toJsonSchema } from "./json_schema.ts";
import {
  EARLIER_HEADER,
  governanceAnswerExample,
  GovernanceAnswerSchema,
  isGoverned,
} from "./governance.ts";
import type { Operation } from "./operation.ts";

const text = (description: string): JsonSchema => ({ type: "string", description });
const object = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: "object",
  required: Object.keys(properties),
  properties,
});
const RECEIPT_ERROR = {
  error: text("What was wrong"),
  receipt_id: text("The id or prefix that was asked for"),
};

/** The forms of errors. */
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

/** Those whose form is not `Error`. */
const FORMS: Partial<Record<ErrorName, string>> = {
  InvalidInput: "HTTPValidationError",
  ReceiptNotFound: "ReceiptNotFound",
  AmbiguousReceipt: "AmbiguousReceipt",
  GuardrailsAway: "GuardrailsAway",
};

const ID = "9f2c4b7a01d3e856";
const detail = (detail: string) => ({ detail });

/** One answer of each kind. */
const EXAMPLES: Readonly<Record<ErrorName, unknown>> = {
  InvalidInput: {
    detail: [{ loc: ["query", "limit"], msg: "Expected a number ≤ 200", type: "too_big" }],
  },
  Unauthenticated: detail("This needs an API key in the header x-api-key"),
  Forbidden: detail("This needs a key of tier partner, and yours is free"),
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
  Conflict: detail("Ticket INC-4f1d22a90b7c is resolved already"),
  MethodNotAllowed: detail("/v1/health has no POST, but HEAD, GET"),
  TooLarge: detail("The body is too large; at most 1048576 bytes are accepted"),
  UnsupportedMediaType: detail(
    "Cannot read a body of type text/plain; send content-type: application/json",
  ),
  RateLimited: detail("Rate limit exceeded (20/day)"),
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
const ALWAYS_SENT = { "x-request-id": header("string", "Id of this request, as in the logs") };
const LIMIT = {
  "ratelimit-limit": header(
    "integer",
    "Requests a day; each key is counted by itself, and those of higher tiers have more",
  ),
  "ratelimit-remaining": header("integer", "Requests that are left of them"),
  "ratelimit-reset": header("integer", "Seconds until the next day begins"),
};
const RECEIPT = {
  "x-receipt-id": header("string", "Receipt of this call, where it was one that is sealed"),
  "x-governance-decision": header("string", "allow, needs_approval or deny, where it was decided"),
  "x-governance-decision-id": header("string", "As in GET /v1/governance/decisions"),
  "x-governance-rule": header("string", "The rule that decided"),
};
const EARLIER = {
  [EARLIER_HEADER]: header(
    "string",
    "When it ended, where people had approved this call before: nothing was done now, and this is what it gave then",
  ),
};
const OWN_HEADERS: Partial<Record<ErrorName, JsonSchema>> = {
  RateLimited: { ...LIMIT, "retry-after": header("integer", "Seconds to wait") },
  OutcomeUnknown: EARLIER,
};

/** What a server's answers are made of. */
export interface ResponseParts {
  readonly components: Components;
  /** Whether the server takes keys, and counts what is done with them. */
  readonly keys: boolean;
  /** Whether this door takes a body. */
  readonly body: boolean;
}

/** Every answer that an operation's door can give, by status. */
export function responses<C>(operation: Operation<C>, parts: ResponseParts): JsonSchema {
  const { output, example, media, status = 200, counted } = operation;
  const given = { schema: parts.components.lift(toJsonSchema(output, "output"), "output") };
  return {
    [status]: {
      description: operation.summary,
      headers: {
        ...ALWAYS_SENT,
        ...(operation.effect === "read" ? {} : RECEIPT),
        ...(parts.keys && canBeHeld(operation) ? EARLIER : {}),
        ...(parts.keys && counted !== false ? LIMIT : {}),
      },
      content: media
        ? { [media]: { schema: { type: "string", format: "binary" } } }
        : { "application/json": { ...given, example: example.output } },
    },
    ...(parts.keys && canBeHeld(operation) ? { 202: held(parts.components) } : {}),
    ...failures(errorsOf(operation, parts)),
  };
}

/** Whether people can be asked first: not by what they decide themselves, and not where no key is behind a call. */
function canBeHeld<C>(operation: Operation<C>): boolean {
  return isGoverned(operation) && !operation.humanControl && operation.access !== "token";
}

/** What is given where people are asked first. */
function held(components: Components): JsonSchema {
  return {
    description: "Governance asks people first; nothing was done yet",
    headers: { ...ALWAYS_SENT, ...RECEIPT },
    content: {
      "application/json": {
        schema: components.lift(toJsonSchema(GovernanceAnswerSchema, "output"), "output"),
        example: governanceAnswerExample,
      },
    },
  };
}

function errorsOf<C>(
  operation: Operation<C>,
  { keys, body }: ResponseParts,
): Set<ErrorName> {
  const { access, effect, errors = [] } = operation;
  const changes = effect !== "read";
  return new Set<ErrorName>([
    "InvalidInput",
    "Internal",
    ...(keys && canBeHeld(operation) ? ["OutcomeUnknown"] as const : []),
    ...(keys ? ["Unauthenticated", "RateLimited"] as const : []),
    ...(access === "public" && !changes ? [] : ["Forbidden"] as const),
    ...(keys && changes ? ["Denied"] as const : []),
    ...(body ? ["TooLarge", "UnsupportedMediaType"] as const : []),
    ...errors as readonly ErrorName[],
  ]);
}

function failures(names: ReadonlySet<ErrorName>): JsonSchema {
  const byStatus = new Map<number, ErrorName[]>();
  for (const name of names) {
    const { status } = ERRORS[name];
    byStatus.set(status, [...(byStatus.get(status) ?? []), name]);
  }
  return Object.fromEntries(
    [...byStatus].sort(([a], [b]) => a - b).map(([status, kinds]) => [status, failure(kinds)]),
  );
}

function failure(kinds: readonly ErrorName[]): JsonSchema {
  const forms = [...new Set(kinds.map((kind) => FORMS[kind] ?? "Error"))]
    .map((form) => ({ $ref: `#/components/schemas/${form}` }));
  return {
    description: kinds.map((kind) => `${kind}: ${ERRORS[kind].next}`).join(" "),
    headers: Object.assign({}, ALWAYS_SENT, ...kinds.map((kind) => OWN_HEADERS[kind])),
    content: {
      "application/json": {
        schema: forms.length === 1 ? forms[0] : { anyOf: forms },
        examples: Object.fromEntries(kinds.map((kind) => [kind, { value: EXAMPLES[kind] }])),
      },
    },
  };
}
