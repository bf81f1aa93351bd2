import type { z } from "zod";
import type { StartedRun, WorkflowName } from "./domain/mod.ts";
import type { CallContext, Scope } from "./caller.ts";
import type { EventStream, FileOutput, JsonText } from "./output.ts";
import type { LostCall, Recovery } from "./recovery.ts";
import type { ShippedRuleName } from "./shipped_rules.ts";

/** `read` changes nothing; `write` changes a record; `run` moves a durable workflow, or acts on the outside. */
export type Effect = "read" | "write" | "run";

/** The callers that may use an operation over REST. Tools are bound by {@linkcode Scope} instead. */
export type Access = "public" | "key" | "partner" | "admin" | "device" | "token";

/** Operations that start a workflow which outlives the call: how the run's result becomes the output. */
export interface LongRunning {
  /** True where others may have started the run or wait for it too; it then survives a cancelled call. */
  readonly shared?: true;
  /** Builds the operation's output. @param started as the call returned it @param result of the run */
  outcome(started: StartedRun, result: unknown): unknown;
}

/** Example of a call, shown in the descriptions and checked against the schemas by the contract's tests. */
interface Example {
  readonly input: Readonly<Record<string, unknown>>;
  readonly output: unknown;
}

/** An input that keeps its meaning until people have decided about the call. */
interface StableInput {
  /** The whole input, with everything resolved that the caller left open. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Its meaning, a sentence for people without a full stop. */
  readonly about: string;
}

/** Properties of a call that differ from the defaults of its effect. @see MCP, ToolAnnotations */
interface Hints {
  /** True: it changes or removes existing things. Default: true for `run`. */
  readonly destructive?: boolean;
  /** True: repeating the call changes nothing more. Default: true for `read`. */
  readonly idempotent?: boolean;
  /** True: the platform talks to systems of others. Default: false. */
  readonly openWorld?: boolean;
}

/** A described function: everything that an interface needs to offer it. See {@linkcode defineOperation}. */
export interface Operation<Context = never> {
  /** Unique, dotted: resource and verb (`tickets.close`). In logs, receipts and policies. */
  readonly name: string;
  /** One line, imperative. */
  readonly summary: string;
  /** More detail, in Markdown. */
  readonly description?: string;
  /** Section of the descriptions. */
  readonly group: string;
  readonly effect: Effect;
  /**
   * The shipped governance rule that decides about its calls where no rule of the operator's matches, the same over every
   * interface. Absent where the effect is `read`.
   */
  // deno-lint-ignore no-explicit-any -- as in `run`
  readonly shippedRule?: ShippedRuleName | ((input: any) => ShippedRuleName);
  /** For AI agents, who may ask a person before a destructive call. */
  readonly hints?: Hints;
  readonly access: Access;
  /**
   * True where a device calls, which has signed the request (RFC 9421). Absent in operations of access `device`: they check a
   * token or a code in their input themselves.
   */
  readonly signedByDevice?: true;
  readonly input: z.ZodObject;
  readonly output: z.ZodType;
  /** REST routes: operation id → `METHOD /path/{parameter}`. */
  readonly rest?: Readonly<Record<string, string>>;
  /** Tools: tool name → the scopes of keys that reach it. */
  readonly tool?: Readonly<Record<string, readonly Scope[]>>;
  /** Sections of its tools by tool name, where they differ from `group`. */
  readonly toolGroup?: Readonly<Record<string, string>>;
  /** Resources: URI or URI template, its variables fields of the input → the scopes of keys that reach it. */
  readonly resource?: Readonly<Record<string, readonly Scope[]>>;
  /** Prompts: name of the prompt, whose arguments are the input → the scopes of keys that reach it. */
  readonly prompt?: Readonly<Record<string, readonly Scope[]>>;
  /** Present where it starts a workflow that outlives the call. Over A2A such a call is a task. */
  readonly longRunning?: LongRunning;
  /** True where the output quotes people, logs or devices. AI agents receive it marked as data. */
  readonly untrusted?: true;
  /** Content type over REST, where the output is a {@linkcode FileOutput} or an {@linkcode EventStream}; JSON by default. */
  readonly media?: string;
  /** Fields that a REST request may also send as a header, which wins: field → name of the header. */
  readonly headers?: Readonly<Record<string, string>>;
  /** True where an output over REST, once it exists, never changes. */
  readonly immutable?: true;
  /** Success status over REST; 200 by default. */
  readonly status?: number;
  /** False where a call does not count against the daily limit. */
  readonly counted?: false;
  /** A limit per minute of its own, besides that of all calls. */
  readonly perMinute?: "simulate" | "heartbeats" | "statements";
  /** A limit per day of its own, of the calls that are run. */
  readonly perDay?: "classify" | "applications" | "leads" | "posts";
  /**
   * True where people use it to decide or to stop, so that they always can: a stop of everything does not apply, no rule
   * asks people about it, and no guardrail judges it. Stops of its key or its name apply, and so do rules that deny.
   * Never reachable by AI agents.
   */
  readonly humanControl?: true;
  /** Fields of the output with secrets that only the first answer has: null in one that repeats it. */
  readonly shownOnce?: readonly string[];
  /**
   * Returns the input as private evidence keeps it: without texts that nobody may keep.
   *
   * @param input as sent where it was refused, else checked
   */
  asEvidence?(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** True where the operation seals its own act, so that the call is not sealed as well. */
  readonly sealsItself?: true;
  /**
   * Returns public details of the output for the call's receipt: names and numbers, no private words.
   *
   * @param output of the call; while its run continues, what is known so far
   */
  receipt?(output: unknown): Readonly<Record<string, string | number>>;
  /**
   * Returns the call of another operation that this call stands for. The call is then decided on, counted and run as
   * that one, and the key needs what both operations require.
   *
   * @param input as sent; not checked yet
   * @returns undefined where it stands for itself
   */
  delegateTo?(input: unknown, context: Context): Delegate<Context> | undefined;
  /**
   * Returns names of another operation whose act the call performs, so that rules and stops of that one apply as well.
   *
   * @param input checked
   */
  // deno-lint-ignore no-explicit-any -- as in `run`
  actsAs?(input: any): readonly string[];
  /**
   * Returns the tenant that owns what a call is about. A key of tier admin then calls in the name of that tenant; all other
   * calls, and those of operations without this, see the caller's own tenant alone.
   *
   * @returns undefined where no tenant has such a thing
   */
  // deno-lint-ignore no-explicit-any -- as in `run`
  ownerOf?(input: any, context: Context): Promise<string | undefined>;
  /** True where a call by a key of tier admin is about the things of all tenants; all others see their own tenant alone. */
  readonly spansTenants?: true;
  /**
   * True where the operation itself has people asked: a call that a rule leaves to people is run, knows the approval that it
   * needs, and what it orders waits for that. Elsewhere the call waits.
   */
  readonly asksPeople?: true;
  /**
   * Returns the action that the guardrails judge where the input names it, in place of the input's text.
   *
   * @throws {Problem} the input names nothing
   */
  // deno-lint-ignore no-explicit-any -- as in `run`
  judgedAction?(input: any, context: Context): Promise<Readonly<Record<string, unknown>>>;
  /** Workflow type that a caller starts through this operation. */
  readonly startsWorkflow?: WorkflowName;
  /** Kinds of errors that this operation can return, besides those that any can. */
  readonly errors?: readonly string[];
  readonly example: Example;
  /**
   * Resolves an input whose meaning may change, such as a place in a queue, into one that keeps it. People are asked
   * about the result, and it is what runs once they have approved.
   *
   * @throws {Problem} the input means nothing
   */
  // deno-lint-ignore no-explicit-any -- as in `run`
  resolveStableInput?(input: any, context: Context): Promise<StableInput>;
  /**
   * Refuses a call that can't be run at the moment. Called before people are asked, so that nobody has to decide about
   * what can't be done; `run` checks again, as things change until they have decided.
   *
   * @throws {Problem} why it can't be run
   */
  // deno-lint-ignore no-explicit-any -- as in `run`
  check?(input: any, context: Context & CallContext): Promise<void>;
  /**
   * Finds out what a call did whose process ended in the middle. Absent: the outcome can't be found out.
   *
   * @throws {Problem} the outcome can't be read at the moment, or its run still continues
   */
  recover?(call: LostCall, context: Context): Promise<Recovery>;
  /** Runs a call. */
  // deno-lint-ignore no-explicit-any -- each operation's own input type; the schema above is what checks it
  run(input: any, context: Context & CallContext): Promise<unknown>;
}

/** The call that another one stands for. */
interface Delegate<Context = never> {
  readonly operation: Operation<Context>;
  /** Not checked yet. */
  readonly input: unknown;
  /** Field of the original call's input that holds it; null: the original call's own fields do. */
  readonly field: string | null;
}

/** An {@linkcode Operation} with `run` typed by its two schemas. */
export interface Definition<Context, Input extends z.ZodObject, Output extends z.ZodType>
  extends Omit<Operation<Context>, "input" | "output" | "run" | "shippedRule"> {
  readonly input: Input;
  readonly output: Output;
  /** Runs a call. @returns a value of the output's schema, its {@linkcode JsonText}, or a file or stream */
  run(
    input: z.output<Input>,
    context: Context & CallContext,
  ): Promise<DeepReadonly<z.input<Output>> | JsonText | FileOutput | EventStream>;
}

/** States that an operation only reads, or which shipped rule decides about its calls. */
type Governed<Input extends z.ZodObject> = { readonly effect: "read" } | {
  readonly effect: Exclude<Effect, "read">;
  readonly shippedRule: ShippedRuleName | ((input: z.output<Input>) => ShippedRuleName);
};

/** The same type with arrays and fields that may be read-only. */
type DeepReadonly<T> = T extends readonly (infer Entry)[] ? readonly DeepReadonly<Entry>[]
  : T extends object ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
  : T;

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
>(definition: Definition<Context, Input, Output> & Governed<Input>) => Operation<Context> {
  return (definition) => definition;
}

/** Returns the shipped rule that decides about a call. @param input checked @throws the operation only reads */
export function shippedRuleOf(
  { name, shippedRule }: Pick<Operation<never>, "name" | "shippedRule">,
  input: unknown,
): ShippedRuleName {
  if (shippedRule === undefined) throw new Error(`${name} states no shipped rule`);
  return typeof shippedRule === "function" ? shippedRule(input) : shippedRule;
}

/** Returns the scopes of keys that reach an operation by the name of a tool, a resource or a prompt. */
export function scopesOf(
  { tool, resource, prompt }: Operation<never>,
  name: string,
): readonly Scope[] | undefined {
  for (const bindings of [tool, resource, prompt]) {
    if (bindings && Object.hasOwn(bindings, name)) return bindings[name];
  }
  return undefined;
}
