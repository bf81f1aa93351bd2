import type { JsonSchema } from "./json_schema.ts";

/** The body of a response. */
export interface Content {
  /** Media type. */
  readonly type: string;
  readonly schema: JsonSchema;
  /** Examples by name; of JSON at least one. */
  readonly examples?: Readonly<Record<string, unknown>>;
}

/** One response that a route can give. */
export interface DescribedResponse {
  readonly status: number;
  readonly description: string;
  readonly headers: JsonSchema;
  readonly content: Content;
}

/** Describes responses by status, as OpenAPI has them. Those of one status become one, whose body is any of theirs. */
export function describeByStatus(responses: readonly DescribedResponse[]): JsonSchema {
  const statuses = [...new Set(responses.map(({ status }) => status))].sort((a, b) => a - b);
  return Object.fromEntries(statuses.map((status) => [
    status,
    describeOne(responses.filter((response) => response.status === status)),
  ]));
}

function describeOne(responses: readonly DescribedResponse[]): JsonSchema {
  const types = [...new Set(responses.map(({ content }) => content.type))];
  return {
    description: responses.map(({ description }) => description).join(" "),
    headers: Object.assign({}, ...responses.map(({ headers }) => headers)),
    content: Object.fromEntries(types.map((type) => [
      type,
      describeContent(responses.map(({ content }) => content).filter((one) => one.type === type)),
    ])),
  };
}

function describeContent(contents: readonly Content[]): JsonSchema {
  const schemas = new Map(contents.map(({ schema }) => [JSON.stringify(schema), schema]));
  const examples = contents.flatMap((one) => Object.entries(one.examples ?? {}));
  return {
    schema: schemas.size === 1 ? contents[0]!.schema : { anyOf: [...schemas.values()] },
    ...(examples.length === 1 ? { example: examples[0]![1] } : {}),
    ...(examples.length > 1
      ? { examples: Object.fromEntries(examples.map(([name, value]) => [name, { value }])) }
      : {}),
  };
}
