import {
  describeUnknownName,
  GovernanceAnswerSchema,
  InvalidInput,
  isGoverned,
  type JsonSchema,
  type Operation,
  type Scope,
  toJsonSchema,
} from "../contract/mod.ts";
import type { ObjectSchema, ToolDescription } from "./requests.ts";
import { VIEW_PROPERTIES } from "./results/mod.ts";

/** An operation as a tool. */
export interface Tool<C> {
  readonly operation: Operation<C>;
  /** Section of the list of tools. */
  readonly group: string;
  /** Scopes of keys that reach it. */
  readonly scopes: readonly Scope[];
  /** As `tools/list` has it. Schemas of outputs take three quarters of all and help no agent, so the registry alone has them. */
  readonly description: ToolDescription;
  readonly outputSchema: ObjectSchema;
  /** True where the output is no object and so is returned as `{result: …}`, as results of tools must be objects. */
  readonly wrapped: boolean;
}

/** Tools by name. */
export type Tools<C> = ReadonlyMap<string, Tool<C>>;

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
  const { summary, presentation: { toolGroup, toolText } = {} } = operation;
  const text = toolText?.[name] ?? operation.description;
  const output = toJsonSchema(operation.output, "output");
  const wrapped = !isObject(output, output);
  return {
    operation,
    group: toolGroup?.[name] ?? operation.group,
    scopes,
    wrapped,
    outputSchema: outputSchema(operation, wrapped ? wrap(output) : { ...output, type: "object" }),
    description: {
      name,
      description: text ? `${summary}. ${text}` : summary,
      inputSchema: inputSchema(operation),
      annotations: annotationsOf(operation),
    },
  };
}

/** Returns the schema of a tool's arguments. One that reads takes those of the view, too. */
function inputSchema<C>({ effect, input }: Operation<C>): ObjectSchema {
  const { properties, ...schema } = toJsonSchema(input.strict(), "input");
  return {
    ...schema,
    properties: {
      ...withoutNoise(properties) as object,
      ...effect === "read" && VIEW_PROPERTIES,
    },
    type: "object",
  };
}

/** Leaves out what tells an agent nothing: the pattern of a format that has a name, and the bounds of all integers. */
function withoutNoise(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNoise);
  if (typeof schema !== "object" || schema === null) return schema;
  const isNoise = ([keyword, value]: [string, unknown]) =>
    keyword === "pattern" && typeof value === "string" && "format" in schema ||
    ["minimum", "maximum"].includes(keyword) && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
  return Object.fromEntries(
    Object.entries(schema).filter((entry) => !isNoise(entry))
      .map(([keyword, value]) => [keyword, withoutNoise(value)]),
  );
}

function annotationsOf<C>(
  { effect, presentation: { hints = {} } = {} }: Operation<C>,
): ToolDescription["annotations"] {
  const openWorldHint = hints.openWorld ?? false;
  if (effect === "read") return { readOnlyHint: true, openWorldHint };
  return {
    readOnlyHint: false,
    destructiveHint: hints.destructive ?? effect === "run",
    idempotentHint: hints.idempotent ?? false,
    openWorldHint,
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
  const unknown = names.filter((name) => !findTool(tools, name) && !groups.includes(name));
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
    all.filter(([name, { group }]) => {
      return [name, plainName(name), group].some((one) => names.includes(one));
    }),
  );
}

/** Returns a tool's name for clients that take no dots: `ledger_verify_chain` for `ledger.verify_chain`. */
const plainName = (name: string): string => name.replaceAll(".", "_");

/**
 * Returns the tools under the names that an address asks for: `plain` lists them without dots.
 *
 * @throws {InvalidInput} there is no such form of names
 */
export function nameTools<C>(
  tools: Tools<C>,
  names: string | readonly string[] | undefined,
): Tools<C> {
  if (names === undefined) return tools;
  if (names !== "plain") {
    throw new InvalidInput([{ path: ["names"], msg: "Expected plain", type: "value_error" }]);
  }
  return new Map(
    [...tools].map(([name, tool]) => [
      name,
      { ...tool, description: { ...tool.description, name: plainName(name) } },
    ]),
  );
}

/** Finds a tool by its name, with dots or without. @returns its name, with dots, and the tool */
export function findTool<C>(
  tools: Tools<C>,
  name: string,
): { readonly name: string; readonly tool: Tool<C> } | undefined {
  const known = tools.has(name) ? name : [...tools.keys()].find((one) => plainName(one) === name);
  return known === undefined ? undefined : { name: known, tool: tools.get(known)! };
}

/** Returns the tools that the contract has. */
export function ownTools<C>(tools: Tools<C>): Tools<C> {
  return new Map([...tools].filter(([, { operation }]) => !operation.extension));
}

/** Returns the answer to `GET /mcp/tools`, which has the schemas of outputs as well. */
export function describeTools<C>(tools: Tools<C>): { readonly tools: readonly unknown[] } {
  return {
    tools: [...tools.values()].map(({ operation, group, scopes, description, outputSchema }) => {
      const { inputSchema, annotations, ...rest } = description;
      const { effect, example } = operation;
      return {
        ...rest,
        group,
        effect,
        scopes,
        inputSchema: { ...inputSchema, examples: [example.input] },
        outputSchema,
        annotations,
      };
    }),
  };
}
