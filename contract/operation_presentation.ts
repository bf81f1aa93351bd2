import type { Scope } from "./caller.ts";

/** How interfaces show an operation, beyond its name, texts, routes and tools. */
export interface Presentation {
  /** For AI agents, who may ask a person before a destructive call. */
  readonly hints?: Hints;
  /** Sections of its tools by tool name, where they differ from `group`. */
  readonly toolGroup?: Readonly<Record<string, string>>;
  /**
   * Texts of its tools by tool name, which agents get in place of `description`: for which question this one is, and not one
   * that is alike.
   */
  readonly toolText?: Readonly<Record<string, string>>;
  /**
   * Returns sentences that say to agents what an output means, the most important first: what happened, its cause, what was
   * done, who decided, and where the proof is. Absent: agents get its fields alone.
   */
  // deno-lint-ignore no-explicit-any -- as in an operation's `run`
  readonly tell?: (output: any) => readonly string[];
  /** Resources: URI or URI template, its variables fields of the input → the scopes of keys that reach it. */
  readonly resource?: Readonly<Record<string, readonly Scope[]>>;
  /** Prompts: name of the prompt, whose arguments are the input → the scopes of keys that reach it. */
  readonly prompt?: Readonly<Record<string, readonly Scope[]>>;
  /** True where the output quotes people, logs or devices. AI agents receive it marked as data. */
  readonly untrusted?: true;
  /** Fields of the output with secrets that only the first answer has: null in one that repeats it. */
  readonly shownOnce?: readonly string[];
  /** Set where a call opens or ends a browser's session: its field `session` is the secret, which goes into the cookie alone. */
  readonly session?: "opens" | "ends";
  /** Set where a call begins or ends a browser's sign-in: its field `sign_in` is the secret, likewise. */
  readonly signIn?: "begins" | "ends";
  /** Kinds of errors that this operation can return, besides those that any can. */
  readonly errors?: readonly string[];
  /** Success status over REST; 200 by default. */
  readonly status?: number;
  /** Content type over REST, where the output is a `FileOutput` or an `EventStream`; JSON by default. */
  readonly media?: string;
  /** Fields that a REST request may also send as a header, which wins: field → name of the header. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Properties of a call that differ from the defaults of its effect. @see MCP, ToolAnnotations */
interface Hints {
  /** True: it changes or removes existing things. Default: true for `run`. */
  readonly destructive?: boolean;
  /** True: repeating the call changes nothing more. Default: false, and of no meaning for `read`. */
  readonly idempotent?: boolean;
  /** True: the platform talks to systems of others. Default: false. */
  readonly openWorld?: boolean;
}
