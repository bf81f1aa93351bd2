import {
  describeUnknownName,
  type Effect,
  GovernanceAnswerSchema,
  InvalidInput,
  isGoverned,
  type JsonSchema,
  type Operation,
  type Scope,
  toJsonSchema,
} from "../contract/mod.ts";
import type { ObjectSchema, ToolDescription } from "./requests.ts";

/** An operation as a tool. */
export interface Tool<C> {
  readonly operation: Operation<C>;
  /** Section of the list of tools. */
  readonly group: string;
  /** Scopes of keys that reach it. */
  readonly scopes: readonly Scope[];
  readonly description: ToolDescription;
  /** True where the output is no object and so is returned as `{result: …}`, as results of tools must be objects. */
  readonly wrapped: boolean;
}

/** Tools by name. */
export type Tools<C> = ReadonlyMap<string, Tool<C>>;

const HINTS: Readonly<Record<Effect, ToolDescription["annotations"]>> = {
  read: {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  write: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false,
  },
  run: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: false,
  },
};

/**
 * Creates the tools of the operations.
 *
 * @throws {Error} two operations have a tool of the same name
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
      tools.set(name, createTool(name, scopes, operation));
    }
  }
  return tools;
}

function createTool<C>(name: string, scopes: readonly Scope[], operation: Operation<C>): Tool<C> {
  const { summary, description } = operation;
  const output = toJsonSchema(operation.output, "output");
  const wrapped = !isObject(output, output);
  return {
    operation,
    group: operation.presentation?.toolGroup?.[name] ?? operation.group,
    scopes,
    wrapped,
    description: {
      name,
      title: summary,
      description: description ? `${summary}. ${description}` : summary,
      inputSchema: {
        ...toJsonSchema(operation.input.strict(), "input"),
        examples: [operation.example.input],
        type: "object",
      },
      outputSchema: outputSchema(operation, wrapped ? wrap(output) : { ...output, type: "object" }),
      annotations: annotationsOf(operation),
    },
  };
}

function annotationsOf<C>(
  { effect, presentation: { hints = {} } = {} }: Operation<C>,
): ToolDescription["annotations"] {
  const defaults = HINTS[effect];
  return {
    readOnlyHint: defaults.readOnlyHint,
    destructiveHint: hints.destructive ?? defaults.destructiveHint,
    idempotentHint: hints.idempotent ?? defaults.idempotentHint,
    openWorldHint: hints.openWorld ?? defaults.openWorldHint,
  };
}

/** Adds governance's own answer to the schema of a governed operation. */
function outputSchema<C>(operation: Operation<C>, own: ObjectSchema): ObjectSchema {
  if (!isGoverned(operation)) return own;
  const { $defs = {}, ...schema } = own;
  const { $defs: governanceDefs = {}, ...answer } = toJsonSchema(GovernanceAnswerSchema, "output");
  return {
    type: "object",
    anyOf: [schema, answer],
    $defs: { ...$defs as JsonSchema, ...governanceDefs as JsonSchema },
  };
}

function wrap({ $defs, ...result }: JsonSchema): ObjectSchema {
  return {
    type: "object",
    properties: { result },
    required: ["result"],
    ...($defs === undefined ? {} : { $defs }),
  };
}

/** Returns true where every value of the schema is an object. */
function isObject(schema: JsonSchema, root: JsonSchema): boolean {
  const { type, $ref, anyOf, oneOf } = schema as {
    type?: unknown;
    $ref?: string;
    anyOf?: JsonSchema[];
    oneOf?: JsonSchema[];
  };
  if (type !== undefined) return type === "object";
  if ($ref !== undefined) return isObject(resolveRef($ref, root), root);
  return (anyOf ?? oneOf)?.every((option) => isObject(option, root)) ?? false;
}

function resolveRef($ref: string, root: JsonSchema): JsonSchema {
  const defs = root.$defs as Record<string, JsonSchema> | undefined;
  return defs?.[$ref.replace("#/$defs/", "")] ?? {};
}

/**
 * Returns the tools that an address selects: `itsm,receipts` are groups or names of tools. Without a selection, all that the
 * contract has.
 *
 * @throws {InvalidInput} there is no such group or tool
 */
export function selectTools<C>(
  tools: Tools<C>,
  selection: string | readonly string[] | undefined,
): Tools<C> {
  const names = [selection ?? []].flat().flatMap((part) => part.split(",")).map((name) =>
    name.trim()
  )
    .filter((name) => name !== "");
  if (names.length === 0) return ownTools(tools);
  const all = [...tools];
  const groups = [...new Set(all.map(([, { group }]) => group))].sort();
  const unknown = names.filter((name) => !tools.has(name) && !groups.includes(name));
  if (unknown.length > 0) {
    throw new InvalidInput([{
      path: ["tools"],
      msg: describeUnknownName(
        "tool or group",
        unknown[0]!,
        [...tools.keys(), ...groups],
        `groups are ${groups.join(", ")}`,
      ),
      type: "value_error",
    }]);
  }
  return new Map(
    all.filter(([name, { group }]) => names.includes(name) || names.includes(group)),
  );
}

/** Returns the tools that the contract has. */
export function ownTools<C>(tools: Tools<C>): Tools<C> {
  return new Map([...tools].filter(([, { operation }]) => !operation.extension));
}

/** Returns the answer to `GET /mcp/tools`. */
export function describeTools<C>(tools: Tools<C>): { readonly tools: readonly unknown[] } {
  return {
    tools: [...tools.values()].map(({ operation: { effect }, group, scopes, description }) => {
      const { title: _, inputSchema, outputSchema, annotations, ...rest } = description;
      return { ...rest, group, effect, scopes, inputSchema, outputSchema, annotations };
    }),
  };
}
