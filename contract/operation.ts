import type { z } from "zod";
import type { StartedRun } from "../domain/mod.ts";

/** `read` changes nothing; `write` changes a record; `run` moves a durable workflow, or acts on the outside. */
export type Effect = "read" | "write" | "run";

/** Who may call an operation over REST. Tools are bound by {@linkcode Scope} instead. */
export type Access = "public" | "key" | "partner" | "admin" | "device" | "token";

/** What a key reaches on the tool server: `full` all tools, `audit` only those that name it. */
export type Scope = "full" | "audit";

/** Tiers of keys, lowest first. */
export const TIERS = ["free", "partner", "enterprise", "admin"] as const;

/** Tier of a key; a caller without one is `free`. */
export type Tier = typeof TIERS[number];

/** Who calls, once it is known. */
export interface Caller {
  /** Public id of the key, never the key; null for the anonymous caller. */
  readonly keyId: string | null;
  readonly tenant: string;
  readonly tier: Tier;
  readonly scope: Scope;
  /** The person or agent who holds the key. */
  readonly principal: string;
  readonly mayApprove: boolean;
  /** Client address, as seen through the trusted proxies. */
  readonly address: string;
}

/** Why a call's answer has nobody to go to: its connection was lost, which does not say that it is not wanted any more. */
export class CallerGone extends Error {
  override readonly name = "CallerGone";
}

/** The ways in. */
export type Door = "rest" | "mcp" | "a2a";

/** What every operation's `run` gets besides its input; the platform adds its parts to it. */
export interface Call {
  readonly caller: Caller;
  readonly door: Door;
  readonly requestId: string;
  /** Aborted when the caller has cancelled, or has gone: with {@linkcode CallerGone} as its reason where that is known. */
  readonly signal: AbortSignal;
  /**
   * Tells the caller how far a long act has come; goes nowhere over a door that has no progress.
   *
   * @param done steps finished, ≥ 0, growing
   * @param total steps in all
   * @param message what is being done, for a person
   */
  progress(done: number, total: number, message: string): void;
  /** Whether the caller follows the run by itself: an operation that is `long` gives it as soon as it is started. */
  readonly detached?: boolean;
  /** `GOV-` and 12 hex characters: the decision that let it run, where there was one. What it makes is named after it. */
  readonly decisionId?: string | undefined;
}

/** A call that was let run, and whose process ended before it could tell what became of it. */
export interface LostCall {
  readonly decisionId: string;
  /** When it was let run; it began later. */
  readonly since: Date;
  /** True where its caller is given what is found: all of that has to be there. */
  readonly awaited?: boolean;
}

/** What is found of such a call. */
export type Recovery = {
  readonly state: "done";
  /** What it made, by the names of ids; public. */
  readonly ids: Readonly<Record<string, string>>;
  /** As the operation's own. */
  readonly output: unknown;
} | {
  /** What it made is there, and has failed, or was lost with its process. */
  readonly state: "failed";
  readonly ids: Readonly<Record<string, string>>;
  /** One of the table of errors. */
  readonly error: { readonly name: string; readonly message: string };
} | {
  /** Which is proven. */
  readonly state: "not_done";
} | {
  readonly state: "unknown";
  /** Where people may look, as the end of a sentence that begins with: look. */
  readonly look?: string;
};

/** What a call that starts a workflow leaves to be done when that has ended. */
export interface LongRunning {
  /** Others may have started the run, or wait for it too: it is not ended with the call. */
  readonly shared?: true;
  /** The operation's output. @param given at the start @param result of the run */
  outcome(given: StartedRun, result: unknown): unknown;
}

/** Example of a call, shown in the descriptions and run by the contract's tests against the schemas. */
export interface Example {
  readonly input: Readonly<Record<string, unknown>>;
  readonly output: unknown;
}

/** What a call means, whenever it is run. */
export interface StableInput {
  /** All of the input, with what its own leaves open. */
  readonly input: Readonly<Record<string, unknown>>;
  /** What it stands for, a sentence for people without a full stop. */
  readonly about: string;
}

/** What a call may do, where that is not what its effect has by default. @see MCP, ToolAnnotations */
export interface Hints {
  /** Whether it changes or removes what is there, in place of only adding to it. By default: `run` does. */
  readonly destructive?: boolean;
  /** Whether the same call again changes nothing more. By default: `read` does not. */
  readonly idempotent?: boolean;
  /** Whether it makes the platform speak with others' systems. By default: none does. */
  readonly openWorld?: boolean;
}

/** A described function: all that a door needs to offer it. See {@linkcode defineOperation}. */
export interface Operation<Context = never> {
  /** Unique, dotted: resource and verb (`tickets.close`). In logs, receipts and policies. */
  readonly name: string;
  /** One line, imperative. */
  readonly summary: string;
  /** More for those who need it, Markdown. */
  readonly description?: string;
  /** Section of the descriptions. */
  readonly group: string;
  readonly effect: Effect;
  /** For agents, who may ask a person before a call that destroys. */
  readonly hints?: Hints;
  readonly access: Access;
  readonly input: z.ZodObject;
  readonly output: z.ZodType;
  /** REST doors: operation id → `METHOD /path/{parameter}`. */
  readonly rest?: Readonly<Record<string, string>>;
  /** Tool doors: tool name → the scopes of keys that reach it. */
  readonly tool?: Readonly<Record<string, readonly Scope[]>>;
  /** Sections of its tools, by their names, where they are others than `group`. */
  readonly toolGroup?: Readonly<Record<string, string>>;
  /** Resource doors: URI or URI template, its variables fields of the input → the scopes of keys that reach it. */
  readonly resource?: Readonly<Record<string, readonly Scope[]>>;
  /** Prompt doors: name of the prompt, whose arguments are the input → the scopes of keys that reach it. */
  readonly prompt?: Readonly<Record<string, readonly Scope[]>>;
  /** Where it starts a workflow that outlives the call. Over A2A such a call is a task. */
  readonly longRunning?: LongRunning;
  /** True where the output quotes the outside: people, logs, devices. Agents are given it as data, and told so. */
  readonly untrusted?: true;
  /** Content type of the output over REST, where it is a {@linkcode FileOutput}; JSON where it is left out. */
  readonly media?: string;
  /** True where what it gives over REST, once it is there, never changes. */
  readonly immutable?: true;
  /** Success status over REST; 200 where it is left out. */
  readonly status?: number;
  /** False where a call does not count against the daily limit. */
  readonly counted?: false;
  /** Limit a minute of its own, besides that of all calls. */
  readonly perMinute?: "simulate";
  /**
   * True where people decide or stop by it, so that they can at any time: a stop of everything lets it be, no rule has
   * people asked about it, and no rail reads it. What stops its key or its name holds, and rules that deny do. Never
   * where agents reach it.
   */
  readonly humanControl?: true;
  /** True where the operation seals what it did itself, so that the door does not seal the call as well. */
  readonly sealsItself?: true;
  /**
   * What the receipt of a call tells in public of what it gave, besides the usual: names and numbers, no private words.
   *
   * @param output as given; of a call whose run goes on, only what is known of that
   */
  receipt?(output: unknown): Readonly<Record<string, string | number>>;
  /**
   * What a call stands for, where that is a call of another operation: it is then decided on, counted and run as that
   * one, and takes what both of them ask of a key.
   *
   * @param input as sent; not checked yet
   * @returns undefined where it stands for itself
   */
  delegateTo?(input: unknown): Delegate<Context> | undefined;
  /** Error kinds that this operation can answer with, besides those that any can. */
  readonly errors?: readonly string[];
  readonly example: Example;
  /**
   * The input that means the same later on, where its own may not: a place in a queue that moves. People are asked about
   * that, and it is what is run once they have approved.
   *
   * @throws {Problem} it means nothing
   */
  // deno-lint-ignore no-explicit-any -- as in `run`
  resolveStableInput?(input: any, context: Context): Promise<StableInput>;
  /**
   * Looks for what a call did whose process ended in the midst of it. Absent: nobody can tell.
   *
   * @throws {Problem} it can't be looked for at the moment, or what is awaited of it goes on
   */
  recover?(call: LostCall, context: Context): Promise<Recovery>;
  // deno-lint-ignore no-explicit-any -- each operation's own input type; the schema above is what checks it
  run(input: any, context: Context & Call): Promise<unknown>;
}

/** The call that another one stands for. */
export interface Delegate<Context = never> {
  readonly operation: Operation<Context>;
  /** Not checked yet. */
  readonly input: unknown;
  /** Field of the call that holds it. */
  readonly field: string;
}

/** The same as {@linkcode Operation}, with `run` typed by the two schemas. */
export interface Definition<Context, Input extends z.ZodObject, Output extends z.ZodType>
  extends Omit<Operation<Context>, "input" | "output" | "run"> {
  readonly input: Input;
  readonly output: Output;
  /** Does it. The output is typed by the schema: that value, its {@linkcode JsonText}, or a {@linkcode FileOutput}. */
  run(
    input: z.output<Input>,
    context: Context & Call,
  ): Promise<z.input<Output> | JsonText | FileOutput>;
}

/**
 * Gives the `operation` function of a platform whose parts are of type `Context`.
 *
 * ```ts
 * export const operation = defineOperation<Platform>();
 * export const health = operation({ name: "health.read", effect: "read", … });
 * ```
 */
export function defineOperation<Context>(): <
  Input extends z.ZodObject,
  Output extends z.ZodType,
>(definition: Definition<Context, Input, Output>) => Operation<Context> {
  return (definition) => definition;
}

/** The scopes of keys that reach an operation by the name that an agent calls: a tool, a resource or a prompt. */
export function scopesOf(
  { tool, resource, prompt }: Operation<never>,
  name: string,
): readonly Scope[] | undefined {
  for (const doors of [tool, resource, prompt]) {
    if (doors && Object.hasOwn(doors, name)) return doors[name];
  }
  return undefined;
}

/**
 * A JSON value that travels as its text, because printing it again would change its bytes (`1.0` would come
 * out as `1`) or cost time for nothing. A door writes the text as it is.
 */
export class JsonText {
  #bytes?: Buffer;
  /** @param text one valid JSON value */
  constructor(readonly text: string) {}
  /** The text in UTF-8; made once, as the same text may be given often. */
  get bytes(): Buffer {
    return this.#bytes ??= Buffer.from(this.text);
  }
  /** The value, where its exact bytes do not matter. */
  value(): unknown {
    return JSON.parse(this.text);
  }
}

/** Bytes as an output, of the operation's `media` type. A door gives them as they are. */
export class FileOutput {
  /** @param name that a client saves it under: A-Z a-z 0-9 . _ - alone */
  constructor(readonly bytes: Uint8Array, readonly name: string) {}
}

/** The output as a value, where it is a {@linkcode JsonText} its parsed form. */
export function outputValue(output: unknown): unknown {
  return output instanceof JsonText ? output.value() : output;
}
