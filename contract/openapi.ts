import { API_VERSION, PRODUCT } from "../domain/mod.ts";
import { type Components, createComponents } from "./_components.ts";
import { ERROR_SCHEMAS, responses } from "./_responses.ts";
import { type JsonSchema, toJsonSchema } from "./json_schema.ts";
import type { Operation } from "./operation.ts";

/** What stands at the head of a description. */
export interface OpenApiInfo {
  readonly title: string;
  readonly description: string;
  /** Whether the server takes keys; it does where this is left out. */
  readonly keys?: boolean;
}

/** What is made of all operations together. */
interface Parts {
  readonly components: Components;
  readonly keys: boolean;
}

/** An operation's input, told apart by where its fields are sent. */
interface Input {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly example: Readonly<Record<string, unknown>>;
}

/**
 * Describes operations as OpenAPI 3.1.0: every parameter, body, answer and error, from the definitions alone.
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
    for (const [operationId, door] of Object.entries(operation.rest ?? {})) {
      const [method, path] = door.split(" ") as [string, string];
      (paths[path] ??= {})[method.toLowerCase()] = {
        operationId,
        ...describe(operation, method, path, { components, keys }),
      };
    }
  }
  const tags = [...new Set(operations.map(({ group }) => group))].map((name) => ({ name }));
  return {
    openapi: "3.1.0",
    info: {
      ...info,
      version: API_VERSION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    tags,
    paths,
    components: {
      ...(keys ? { securitySchemes: { api_key: API_KEY } } : {}),
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
    ...(parts.keys ? { security: security(access === "public") } : {}),
    parameters: [
      ...inPath.map((name) => parameter("path", name, input)),
      ...(inQuery ? others.map((name) => parameter("query", name, input)) : []),
    ],
    ...(body ? { requestBody: requestBody(others, input) } : {}),
    responses: responses(operation, { ...parts, body }),
  };
}

/** A key may be sent to what is public, too; then it must be valid. */
const security = (isPublic: boolean) => isPublic ? [{}, { api_key: [] }] : [{ api_key: [] }];

function inputOf<C>({ input, example }: Operation<C>, components: Components): Input {
  const schema = components.lift(toJsonSchema(input, "input"), "input");
  const { properties = {}, required = [] } = schema as Partial<Input>;
  return { properties, required, example: example.input };
}

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
