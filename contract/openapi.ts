import { API_VERSION, GROUPS, PRODUCT } from "./domain/mod.ts";
import { type Components, createComponents } from "./_components.ts";
import { describeResponses, ERROR_SCHEMAS } from "./_responses.ts";
import { hasDryRun, isGoverned } from "./governance.ts";
import { type JsonSchema, toJsonSchema } from "./json_schema.ts";
import type { Access, Operation } from "./operation.ts";
import { IDEMPOTENCY_KEY_PATTERN } from "./request_marks.ts";

/** The title and options of a description. */
export interface OpenApiInfo {
  readonly title: string;
  readonly description: string;
  /** False where the server takes no keys. */
  readonly keys?: boolean;
}

/** Parts shared by all operations of one description. */
interface Parts {
  readonly components: Components;
  readonly keys: boolean;
}

/** The fields of an operation's input. */
interface Input {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly example: Readonly<Record<string, unknown>>;
}

/**
 * Builds an OpenAPI 3.1.0 description from the definitions: every parameter, body, answer and error.
 *
 * @see https://spec.openapis.org/oas/v3.1.0
 */
export function buildOpenApi<C>(
  operations: readonly Operation<C>[],
  { keys = true, ...info }: OpenApiInfo,
): JsonSchema {
  const components = createComponents(ERROR_SCHEMAS);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    for (const [operationId, route] of Object.entries(operation.rest ?? {})) {
      const [method, path] = route.split(" ") as [string, string];
      (paths[path] ??= {})[method.toLowerCase()] = {
        operationId,
        ...describe(operation, method, path, { components, keys }),
      };
    }
  }
  const routed = operations.filter(({ rest = {} }) => Object.keys(rest).length > 0);
  const used = new Set(routed.map(({ group }) => group));
  const tags = Object.entries(GROUPS).filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
  return {
    openapi: "3.1.0",
    info: {
      ...info,
      version: API_VERSION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    ...(keys ? {} : { security: [] }), // no key is needed for anything
    tags,
    paths,
    components: {
      ...(keys ? { securitySchemes: securitySchemes(operations) } : {}),
      schemas: components.schemas,
    },
  };
}

const API_KEY = {
  type: "apiKey",
  in: "header",
  name: "x-api-key",
  description: `A ${PRODUCT} key`,
};
const A2A_TOKEN = {
  type: "apiKey",
  in: "header",
  name: "x-a2a-token",
  description:
    "The shared token of other agents' platforms, which an operator sets as SEALOOP_A2A_TOKEN",
};
const DEVICE_SIGNATURE = {
  type: "apiKey",
  in: "header",
  name: "signature",
  description:
    "The device's signature of the request, with content-digest and signature-input (RFC 9421), which its agent makes",
};

const SESSION = {
  type: "apiKey",
  in: "cookie",
  name: "__Host-sealoop",
  description:
    "The session of a person who has signed in; only the gateway's own pages can send it",
};

function securitySchemes<C>(operations: readonly Operation<C>[]) {
  const takesToken = operations.some(({ access }) => access === "token");
  const isSigned = operations.some(({ governance }) => governance?.signedByDevice);
  return {
    api_key: API_KEY,
    ...(takesToken ? { a2a_token: A2A_TOKEN } : {}),
    ...(operations.some(({ access }) => access === "session") ? { session: SESSION } : {}),
    ...(isSigned ? { device_signature: DEVICE_SIGNATURE } : {}),
  };
}

/** Returns how callers show who they are. Tokens and codes of new devices are fields of the input. */
function securityOf<C>({ access, governance }: Operation<C>): Security {
  return governance?.signedByDevice ? [{ device_signature: [] }] : SECURITY[access];
}

function describe<C>(operation: Operation<C>, method: string, path: string, parts: Parts) {
  const { summary, description, group, access, effect } = operation;
  const input = inputOf(operation, parts.components);
  const names = Object.keys(input.properties);
  const inPath = names.filter((name) => path.includes(`{${name}}`));
  const others = names.filter((name) => !inPath.includes(name));
  const inQuery = method === "GET" || method === "DELETE";
  const body = !inQuery && others.length > 0;
  return {
    summary,
    ...(description ? { description } : {}),
    tags: [group],
    "x-access": access,
    "x-effect": effect,
    ...(parts.keys ? { security: securityOf(operation) } : {}),
    parameters: [
      ...inPath.map((name) => parameter("path", name, input)),
      ...(inQuery ? others.map((name) => parameter("query", name, input)) : []),
      ...Object.entries(operation.presentation?.headers ?? {}).map(([field, name]) => ({
        ...parameter("query", field, input),
        name,
        in: "header",
      })),
      ...(parts.keys && isGoverned(operation) ? [IDEMPOTENCY_KEY] : []),
      ...(parts.keys && hasDryRun(operation) ? [DRY_RUN] : []),
    ],
    ...(body ? { requestBody: requestBody(others, input) } : {}),
    responses: describeResponses(operation, { ...parts, body }),
  };
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Your name for this call, such as a UUID. The same key and input within 24 hours gives the first answer " +
    "again, with the header x-earlier, and changes nothing more; secrets that are shown once are null in it",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: IDEMPOTENCY_KEY_PATTERN },
  example: "5b0c7c3e-30c5-4b6e-8f0c-0c6c5d4b3a29",
};

const DRY_RUN = {
  name: "x-dry-run",
  in: "header",
  required: false,
  description:
    "true: nothing is done, and the answer says what governance would decide. Needs a key",
  schema: { type: "string", enum: ["true", "false"] },
  example: "true",
};

type Security = readonly Readonly<Record<string, readonly string[]>>[];

/** Public operations take a key as well; one that is sent must be valid. */
const PUBLIC: Security = [{}, { api_key: [] }];
const WITH_KEY: Security = [{ api_key: [] }];
const SECURITY: Readonly<Record<Access, Security>> = {
  public: PUBLIC,
  key: WITH_KEY,
  partner: WITH_KEY,
  admin: WITH_KEY,
  device: [],
  token: [{ a2a_token: [] }],
  session: [{ session: [] }],
};

function inputOf<C>({ input, example }: Operation<C>, components: Components): Input {
  const schema = components.lift(withoutNul(toJsonSchema(input, "input")), "input");
  const { properties = {}, required = [] } = schema as Partial<Input>;
  return { properties, required, example: example.input };
}

/** Returns a copy in which plain strings have a pattern that excludes U+0000, which every operation refuses. */
function withoutNul<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(withoutNul) as T;
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, DATA.has(key) ? value : withoutNul(value)]),
  );
  const isPlain = copy.type === "string" && RESTRICTED.every((keyword) => !(keyword in copy));
  return (isPlain ? { ...copy, pattern: NO_NUL } : copy) as T;
}

/** Keywords of JSON Schema that hold data, not schemas. */
const DATA: ReadonlySet<string> = new Set(["const", "default", "enum", "example", "examples"]);
/** Keywords that exclude U+0000 already. */
const RESTRICTED = ["const", "enum", "format", "pattern"];
const NO_NUL = "^[^\\u0000]*$";

function parameter(
  place: "path" | "query",
  name: string,
  { properties, required, example }: Input,
) {
  const { description = name, ...schema } = properties[name]!;
  return {
    name,
    in: place,
    required: place === "path" || required.includes(name),
    description,
    schema,
    ...(name in example ? { example: example[name] } : {}),
  };
}

function requestBody(names: readonly string[], { properties, required, example }: Input) {
  const pick = (from: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));
  const needed = required.filter((name) => names.includes(name));
  return {
    required: needed.length > 0,
    content: {
      "application/json": {
        schema: {
          type: "object",
          properties: pick(properties),
          ...(needed.length > 0 ? { required: needed } : {}),
          additionalProperties: false,
        },
        example: pick(example),
      },
    },
  };
}
