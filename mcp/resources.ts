import { type JsonSchema, toJsonSchema, type Operation, type Scope } from "../contract/mod.ts";
import type { PromptDescription, TemplateDescription } from "./handlers.ts";

/** An operation's door as a resource. */
export interface ResourceDoor<C> {
  readonly operation: Operation<C>;
  /** URI or URI template; also the name under which it is called. */
  readonly template: string;
  readonly scopes: readonly Scope[];
  readonly description: TemplateDescription;
  /** @returns the input that a URI stands for; undefined where it is none of this door */
  read(uri: string): Readonly<Record<string, string>> | undefined;
}

/** Where the list of resources is read. */
export const INDEX = "sealoop://resources";

/** Arguments that are names of resources, and how URIs of those begin: a client is told how they may go on. */
export const COMPLETED: ReadonlyMap<string, string> = new Map([
  ["ticket_id", "sealoop://tickets/"],
  ["receipt_id", "sealoop://receipts/"],
]);

/** Makes a resource of every resource door of the operations. */
export function bindResources<C>(operations: readonly Operation<C>[]): readonly ResourceDoor<C>[] {
  return operations.flatMap((operation) =>
    Object.entries(operation.resource ?? {}).map(([template, scopes]) => ({
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
      read: reader(template),
    }))
  );
}

function reader(template: string): ResourceDoor<never>["read"] {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const source = template.replace(/[.?*+^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "([^/?#]+)");
  const pattern = new RegExp(`^${source}$`);
  return (uri) => {
    const found = pattern.exec(uri);
    if (!found) return undefined;
    try {
      return Object.fromEntries(names.map((name, n) => [name, decodeURIComponent(found[n + 1]!)]));
    } catch {
      return undefined; // a percent sign that escapes nothing
    }
  };
}

/** An operation's door as a prompt. */
export interface PromptDoor<C> {
  readonly operation: Operation<C>;
  readonly scopes: readonly Scope[];
  readonly description: PromptDescription;
}

/** Prompts by their names. */
export function bindPrompts<C>(
  operations: readonly Operation<C>[],
): ReadonlyMap<string, PromptDoor<C>> {
  return new Map(
    operations.flatMap((operation) =>
      Object.entries(operation.prompt ?? {}).map(([name, scopes]) => {
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
