import { type JsonSchema, type Operation, type Scope, toJsonSchema } from "../contract/mod.ts";
import type { PromptDescription, TemplateDescription } from "./requests.ts";

/** An operation as a resource or a template of resources. */
export interface Resource<C> {
  readonly operation: Operation<C>;
  /** URI or URI template; also the name of its calls. */
  readonly template: string;
  readonly scopes: readonly Scope[];
  readonly description: TemplateDescription;
  /** Parses a URI to the operation's input. @returns undefined where it does not match the template */
  parse(uri: string): Readonly<Record<string, string>> | undefined;
}

/** The resource that lists resources. */
export const RESOURCE_LIST = "sealoop://resources";

/** Arguments that can be completed: names of resources, by the start of their URIs. */
export const COMPLETED_ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ["ticket_id", "sealoop://tickets/"],
  ["receipt_id", "sealoop://receipts/"],
]);

/** Creates the resources of the operations. */
export function bindResources<C>(operations: readonly Operation<C>[]): readonly Resource<C>[] {
  return operations.flatMap((operation) =>
    Object.entries(operation.presentation?.resource ?? {}).map(([template, scopes]) => ({
      operation,
      template,
      scopes,
      description: {
        uriTemplate: template,
        name: operation.name,
        title: operation.summary,
        description: operation.description ?? operation.summary,
        mimeType: "application/json" as const,
      },
      parse: createParser(template),
    }))
  );
}

function createParser(template: string): Resource<never>["parse"] {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const source = template.replace(/[.?*+^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "([^/?#]+)");
  const pattern = new RegExp(`^${source}$`);
  return (uri) => {
    const match = pattern.exec(uri);
    if (!match) return undefined;
    try {
      return Object.fromEntries(names.map((name, n) => [name, decodeURIComponent(match[n + 1]!)]));
    } catch {
      return undefined; // malformed percent-encoding
    }
  };
}

/** An operation as a prompt. */
export interface Prompt<C> {
  readonly operation: Operation<C>;
  readonly scopes: readonly Scope[];
  readonly description: PromptDescription;
}

/** Creates the prompts of the operations, by name. */
export function bindPrompts<C>(
  operations: readonly Operation<C>[],
): ReadonlyMap<string, Prompt<C>> {
  return new Map(
    operations.flatMap((operation) =>
      Object.entries(operation.presentation?.prompt ?? {}).map(([name, scopes]) => {
        const input = toJsonSchema(operation.input, "input");
        const description = {
          name,
          title: operation.summary,
          description: operation.description ?? operation.summary,
          arguments: argumentsOf(input),
        };
        return [name, { operation, scopes, description }] as const;
      })
    ),
  );
}

function argumentsOf({ properties = {}, required = [] }: JsonSchema) {
  return Object.entries(properties as Record<string, { description?: string }>).map((
    [name, { description }],
  ) => ({
    name,
    ...(description === undefined ? {} : { description }),
    required: (required as readonly string[]).includes(name),
  }));
}
