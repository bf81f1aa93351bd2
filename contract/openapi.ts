import { type ErrorName, ERRORS } from "./errors.ts";
import { type JsonSchema, jsonSchema } from "./json_schema.ts";
import { API_VERSION, PRODUCT } from "./names.ts";
import type { Operation } from "./operation.ts";

/** What stands at the head of a description. */
export interface OpenApiInfo {
  readonly title: string;
  readonly description: string;
}

/** Errors that every operation can answer with. */
const ALWAYS: readonly ErrorName[] = ["InvalidInput", "Unauthenticated", "RateLimited", "Internal"];

/**
 * Describes operations as OpenAPI 3.1.0: every parameter, body, answer and error, from the definitions alone.
 *
 * @see https://spec.openapis.org/oas/v3.1.0
 */
export function openApi<C>(operations: readonly Operation<C>[], info: OpenApiInfo): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    for (const [operationId, door] of Object.entries(operation.rest ?? {})) {
      const [method, path] = door.split(" ") as [string, string];
      (paths[path] ??= {})[method.toLowerCase()] = describe(operation, operationId, method, path);
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
      securitySchemes: {
        api_key: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: `A ${PRODUCT} key`,
        },
      },
      schemas: { HTTPValidationError: VALIDATION_ERROR, Error: ERROR },
    },
  };
}

const ERROR = {
  type: "object",
  required: ["detail"],
  properties: {
    detail: { type: "string", description: "What was wrong, and what would be right" },
  },
};
const VALIDATION_ERROR = {
  type: "object",
  required: ["detail"],
  properties: {
    detail: {
      type: "array",
      items: {
        type: "object",
        required: ["loc", "msg", "type"],
        properties: {
          loc: {
            type: "array",
            items: { anyOf: [{ type: "string" }, { type: "integer" }] },
            description: "path, query or body, then the field",
          },
          msg: { type: "string" },
          type: { type: "string" },
        },
      },
    },
  },
};

function describe<C>(operation: Operation<C>, operationId: string, method: string, path: string) {
  const { summary, description, group, access, effect, example } = operation;
  const schema = jsonSchema(operation.input, "input") as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  const names = Object.keys(schema.properties ?? {});
  const inPath = names.filter((name) => path.includes(`{${name}}`));
  const others = names.filter((name) => !inPath.includes(name));
  const inQuery = method === "GET" || method === "DELETE";
  const parameter = (where: "path" | "query") => (name: string) => ({
    name,
    in: where,
    required: where === "path" || (schema.required?.includes(name) ?? false),
    description: schema.properties?.[name]?.description ?? name,
    schema: schema.properties?.[name],
    ...(name in example.input ? { example: example.input[name] } : {}),
  });
  return {
    operationId,
    summary,
    ...(description ? { description } : {}),
    tags: [group],
    "x-access": access,
    "x-effect": effect,
    security: access === "public" ? [{}, { api_key: [] }] : [{ api_key: [] }],
    parameters: [
      ...inPath.map(parameter("path")),
      ...(inQuery ? others.map(parameter("query")) : []),
    ],
    ...(inQuery || others.length === 0 ? {} : { requestBody: body(schema, others, example.input) }),
    responses: responses(operation),
  };
}

function body(
  schema: { properties?: Record<string, JsonSchema>; required?: string[] },
  names: readonly string[],
  example: Readonly<Record<string, unknown>>,
) {
  const pick = (from: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));
  const required = schema.required?.filter((name) => names.includes(name)) ?? [];
  return {
    required: required.length > 0,
    content: {
      "application/json": {
        schema: {
          type: "object",
          properties: pick(schema.properties ?? {}),
          ...(required.length > 0 ? { required } : {}),
          additionalProperties: false,
        },
        example: pick(example),
      },
    },
  };
}

function responses<C>(operation: Operation<C>) {
  const { access, errors = [], output, example, media, status = 200 } = operation;
  const names = [
    ...ALWAYS,
    ...(access === "public" ? [] : ["Forbidden"]),
    ...errors,
  ] as ErrorName[];
  const byStatus = new Map<number, ErrorName[]>();
  for (const name of new Set(names)) {
    const at = ERRORS[name].status;
    byStatus.set(at, [...(byStatus.get(at) ?? []), name]);
  }
  const failed = [...byStatus].sort(([a], [b]) => a - b).map(([at, kinds]) => [at, {
    description: kinds.map((kind) => `${kind}: ${ERRORS[kind].next}`).join(" "),
    content: {
      "application/json": {
        schema: { $ref: `#/components/schemas/${at === 422 ? "HTTPValidationError" : "Error"}` },
      },
    },
  }]);
  return {
    [status]: {
      description: operation.summary,
      headers: {
        "x-request-id": { schema: { type: "string" }, description: "Id of this request" },
      },
      content: media
        ? { [media]: { schema: { type: "string", format: "binary" } } }
        : { "application/json": { schema: jsonSchema(output, "output"), example: example.output } },
    },
    ...Object.fromEntries(failed),
  };
}
