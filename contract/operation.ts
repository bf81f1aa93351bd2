import type { z } from "zod";
import type { CallContext, Scope } from "./caller.ts";
import type { EventStream, FileOutput, JsonText } from "./output.ts";
import type { Durability } from "./operation_durability.ts";
import type { Governance } from "./operation_governance.ts";
import type { Presentation } from "./operation_presentation.ts";
import type { DeepReadonly } from "./records/mod.ts";
import type { ShippedRuleName } from "./shipped_rules.ts";

/** `read` changes nothing; `write` changes a record; `run` moves a durable workflow, or acts on the outside. */
export type Effect = "read" | "write" | "run";

/** The callers that may use an operation over REST. Tools are bound by {@linkcode Scope} instead. */
export type Access = "public" | "key" | "partner" | "admin" | "device" | "token" | "session";

/** Example of a call, shown in the descriptions and checked against the schemas by the contract's tests. */
interface Example {
  readonly input: Readonly<Record<string, unknown>>;
  readonly output: unknown;
}

/**
 * A described function: everything that an interface needs to offer it. See {@linkcode defineOperation}. The parts hold what
 * only some operations say.
 */
export interface Operation<Context = never> {
  /** Unique, dotted: resource and verb (`tickets.close`). In logs, receipts and policies. */
  readonly name: string;
  /** One line, imperative. */
  readonly summary: string;
  /** More detail, in Markdown. */
  readonly description?: string;
  /** Section of the descriptions, of `GROUPS`. */
  readonly group: string;
  readonly effect: Effect;
  readonly access: Access;
  /** True where the contract does not have it: it is described apart, and its tools are offered only where asked for. */
  readonly extension?: true;
  readonly input: z.ZodObject;
  readonly output: z.ZodType;
  /** REST routes: operation id → `METHOD /path/{parameter}`. */
  readonly rest?: Readonly<Record<string, string>>;
  /** Tools: tool name → the scopes of keys that reach it. */
  readonly tool?: Readonly<Record<string, readonly Scope[]>>;
  /** How interfaces show it, beyond the above. */
  readonly presentation?: Presentation;
  /** Who decides about its calls, and in whose name they run. */
  readonly governance?: Governance<Context>;
  /** Its runs, receipts and recovery, which outlive a call. */
  readonly durability?: Durability<Context>;
  readonly example: Example;
  /** Runs a call. */
  // deno-lint-ignore no-explicit-any -- each operation's own input type; the schema above is what checks it
  run(input: any, context: Context & CallContext): Promise<unknown>;
}

/** An {@linkcode Operation} with `run` typed by its two schemas. */
export interface Definition<Context, Input extends z.ZodObject, Output extends z.ZodType>
  extends Omit<Operation<Context>, "input" | "output" | "governance" | "run"> {
  readonly input: Input;
  readonly output: Output;
  /** Runs a call. @returns a value of the output's schema, its {@linkcode JsonText}, or a file or stream */
  run(
    input: z.output<Input>,
    context: Context & CallContext,
  ): Promise<DeepReadonly<z.input<Output>> | JsonText | FileOutput | EventStream>;
}

/** States that an operation only reads, or which shipped rule decides about its calls. */
type Ruled<Context, Input extends z.ZodObject> = {
  readonly effect: "read";
  readonly governance?: Governance<Context>;
} | {
  readonly effect: Exclude<Effect, "read">;
  readonly governance: Omit<Governance<Context>, "rule"> & {
    readonly rule: ShippedRuleName | ((input: z.output<Input>) => ShippedRuleName);
  };
};

/**
 * Returns the `operation` function of a platform whose parts are of type `Context`.
 *
 * ```ts
 * export const operation = defineOperation<Platform>();
 * export const health = operation({ name: "health.read", effect: "read", … });
 * ```
 */
export function defineOperation<Context>(): <
  Input extends z.ZodObject,
  Output extends z.ZodType,
>(definition: Definition<Context, Input, Output> & Ruled<Context, Input>) => Operation<Context> {
  return (definition) => definition;
}

/** Returns the shipped rule that decides about a call. @param input checked @throws the operation only reads */
export function shippedRuleOf(
  { name, governance: { rule } = {} }: Pick<Operation<never>, "name" | "governance">,
  input: unknown,
): ShippedRuleName {
  if (rule === undefined) throw new Error(`${name} states no shipped rule`);
  return typeof rule === "function" ? rule(input) : rule;
}

/** Returns the scopes of keys that reach an operation by the name of a tool, a resource or a prompt. */
export function scopesOf(
  { tool, presentation: { resource, prompt } = {} }: Operation<never>,
  name: string,
): readonly Scope[] | undefined {
  for (const bindings of [tool, resource, prompt]) {
    if (bindings && Object.hasOwn(bindings, name)) return bindings[name];
  }
  return undefined;
}

/** Returns the operations that the contract has, and those beyond it. */
export function splitByContract<Op extends Pick<Operation<never>, "extension">>(
  operations: readonly Op[],
): { readonly own: readonly Op[]; readonly extensions: readonly Op[] } {
  return {
    own: operations.filter(({ extension }) => !extension),
    extensions: operations.filter(({ extension }) => extension),
  };
}
