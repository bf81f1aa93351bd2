import {
  type Effect,
  GovernanceAnswerSchema,
  InvalidInput,
  isGoverned,
  type JsonSchema,
  toJsonSchema,
  type Operation,
} from "../contract/mod.ts";
import type { Scope } from "../contract/mod.ts";
import type { ToolDescription } from "./handlers.ts";

/** An operation's door to agents. */
export interface Tool<C> {
  readonly operation: Operation<C>;
  /** Section that it is listed in, and chosen by. */
  readonly group: string;
  /** Scopes of the keys that reach it. */
  readonly scopes: readonly Scope[];
  readonly description: ToolDescription;
  /** Whether the output is no object, and so is given as `{result: …}`: a tool's result has to be an object. */
  readonly wrapped: boolean;
}

/** Tools by their names. */
export type Tools<C> = ReadonlyMap<string, Tool<C>>;

const HINTS: Readonly<Record<Effect, ToolDescription["annotations"]>> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  write: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false,
  },
  run: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
};

/**
 * Makes a tool of every tool door of the operations.
 *
 * @throws {Error} two operations have a door of the same name
 */
export function bindTools<C>(operations: readonly Operation<C>[]): Tools<C> {
  const tools = new Map<string, Tool<C>>();
  for (const operation of operations) {
    for (const [name, scopes] of Object.entries(operation.tool ?? {})) {
      const other = tools.get(name);
      if (other) {
        throw new Error(
          `Cannot bind tool ${name} to ${operation.name} as ${other.operation.name} has it`,
        );
      }
      tools.set(name, tool(name, scopes, operation));
    }
  }
  return tools;
}

function tool<C>(name: string, scopes: readonly Scope[], operation: Operation<C>): Tool<C> {
  const { summary, description } = operation;
  const output = toJsonSchema(operation.output, "output");
  const wrapped = !isObject(output, output);
  return {
    operation,
    group: operation.toolGroup?.[name] ?? operation.group,
    scopes,
    wrapped,
    description: {
      name,
      title: summary,
      description: description ? `${summary}. ${description}` : summary,
      inputSchema: {
        ...toJsonSchema(operation.input.strict(), "input"),
        type: "object",
        ...{ examples: [operation.example.input] },
      },
      outputSchema: outputSchema(operation, wrapped ? wrap(output) : { ...output, type: "object" }),
      annotations: annotationsOf(operation),
    },
  };
}

function annotationsOf<C>({ effect, hints = {} }: Operation<C>): ToolDescription["annotations"] {
  const usual = HINTS[effect];
  return {
    readOnlyHint: usual.readOnlyHint,
    destructiveHint: hints.destructive ?? usual.destructiveHint,
    idempotentHint: hints.idempotent ?? usual.idempotentHint,
    openWorldHint: hints.openWorld ?? usual.openWorldHint,
  };
}

/** What governance holds back is answered in its own form. */
function outputSchema<C>(
  operation: Operation<C>,
  own: ToolDescription["outputSchema"],
): ToolDescription["outputSchema"] {
  if (!isGoverned(operation)) return own;
  const { $defs = {}, ...schema } = own as JsonSchema;
  const { $defs: more = {}, ...held } = toJsonSchema(GovernanceAnswerSchema, "output");
  return {
    type: "object",
    ...{ anyOf: [schema, held], $defs: { ...$defs as JsonSchema, ...more as JsonSchema } },
  };
}

function wrap({ $defs, ...result }: JsonSchema): ToolDescription["outputSchema"] {
  const schema = { type: "object" as const, properties: { result }, required: ["result"] };
  return $defs === undefined ? schema : { ...schema, ...{ $defs } };
}

/** Whether every value that fits is an object. */
function isObject(schema: JsonSchema, root: JsonSchema): boolean {
  const { type, $ref, anyOf, oneOf } = schema as {
    type?: unknown;
    $ref?: string;
    anyOf?: JsonSchema[];
    oneOf?: JsonSchema[];
  };
  if (type !== undefined) return type === "object";
  if ($ref !== undefined) return isObject(referred($ref, root), root);
  return (anyOf ?? oneOf)?.every((option) => isObject(option, root)) ?? false;
}

function referred($ref: string, root: JsonSchema): JsonSchema {
  const defs = root.$defs as Record<string, JsonSchema> | undefined;
  return defs?.[$ref.replace("#/$defs/", "")] ?? {};
}

/**
 * The tools that an address names: `itsm,receipts` are groups, or single tools by their names. All, where it names none.
 *
 * @throws {Problem} `InvalidInput`: there is no such group or tool
 */
export function chooseTools<C>(
  tools: Tools<C>,
  chosen: string | readonly string[] | undefined,
): Tools<C> {
  const names = [chosen ?? []].flat().flatMap((part) => part.split(",")).map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length === 0) return tools;
  const all = [...tools];
  const groups = [...new Set(all.map(([, { group }]) => group))].sort();
  const unknown = names.filter((name) => !tools.has(name) && !groups.includes(name));
  if (unknown.length > 0) {
    throw new InvalidInput([{
      path: ["tools"],
      msg: `There is no tool or group ${unknown.join(", ")}; groups are ${groups.join(", ")}`,
      type: "value_error",
    }]);
  }
  return new Map(
    all.filter(([name, { group }]) => names.includes(name) || names.includes(group)),
  );
}

/** The registry of `GET /mcp/tools`. */
export function registry<C>(tools: Tools<C>): { readonly tools: readonly unknown[] } {
  return {
    tools: [...tools.values()].map(({ operation: { effect }, group, scopes, description }) => {
      const { title: _, inputSchema, outputSchema, annotations, ...rest } = description;
      return { ...rest, group, effect, scopes, inputSchema, outputSchema, annotations };
    }),
  };
}
