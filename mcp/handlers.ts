/** What a client is told of a tool. */
export interface ToolDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: "object" };
  readonly outputSchema: { readonly type: "object" };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** How a call of a tool ended. */
export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The HTTP request that carried a message. */
export interface Origin {
  readonly requestId: string;
  /** Client address, as seen through the trusted proxies. */
  readonly address: string;
}

/** A call of a tool, as it came in. */
export interface ToolCall extends Origin {
  /** `mcp` where it is left out. */
  readonly door?: "mcp" | "a2a";
  readonly name: string;
  /** Not checked yet. */
  readonly input: unknown;
  /** Whether the client only asks what would be decided, by `sealoop/dry_run` in `_meta`. */
  readonly dryRun: boolean;
  /** Why its `_meta` can't be followed; then nothing is done. */
  readonly dryRunError?: string;
  /** Aborted when the client cancels the call, or by {@linkcode CallerGone} when its connection is lost. */
  readonly signal: AbortSignal;
  /** Whether the door follows by itself what the call starts. */
  readonly detached?: boolean;
  /** Goes nowhere where the client did not ask for it. */
  progress(done: number, total: number, message: string): void;
}

/** A request that runs an operation. */
export interface Ask extends Origin {
  /** Aborted when the client cancels it or leaves. */
  readonly signal: AbortSignal;
}

/** A resource that there is. */
export interface ResourceDescription {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType: string;
}

/** Resources by the form of their URIs; one without variables is a resource itself. */
export interface TemplateDescription {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

/** What reading a resource gave. */
export interface ResourceContents {
  readonly contents: readonly {
    readonly uri: string;
    readonly mimeType: string;
    readonly text: string;
  }[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** What a client is told of a prompt. */
export interface PromptDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description?: string;
    readonly required: boolean;
  }[];
}

/** A prompt, filled in. */
export interface PromptMessages {
  readonly description: string;
  readonly messages: readonly {
    readonly role: "user" | "assistant";
    readonly content:
      | { readonly type: "text"; readonly text: string }
      | { readonly type: "resource"; readonly resource: ResourceContents["contents"][number] };
  }[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** Why a request was not done, as JSON-RPC has it. */
export class Refused extends Error {
  override readonly name = "Refused";
  constructor(
    /** @see JSON-RPC 2.0 §5.1, and the protocol's own */
    readonly code: number,
    message: string,
    readonly data?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

/** What answers a client's requests. Those that take an {@linkcode Ask} throw {@linkcode Refused}. */
export interface Handlers {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  templates(): readonly TemplateDescription[];
  resources(ask: Ask): Promise<readonly ResourceDescription[]>;
  read(uri: string, ask: Ask): Promise<ResourceContents>;
  /** Whether the key reaches a resource, and so may be told of its changes. */
  reaches(uri: string): boolean;
  prompts(): readonly PromptDescription[];
  prompt(name: string, input: unknown, ask: Ask): Promise<PromptMessages>;
  /**
   * Ends of what a person types for an argument of a resource or prompt.
   *
   * @param name of the argument @param start what is typed so far
   */
  complete(name: string, start: string, ask: Ask): Promise<readonly string[]>;
  /** Tells of resources that changed, until what it gives is called. */
  onChange(told: (uri: string) => void): () => void;
  list(): readonly ToolDescription[];
  /** @throws {Refused} there is no tool of that name */
  call(call: ToolCall): Promise<ToolResult>;
  /** Something went wrong that no answer can tell. */
  failed(error: Error): void;
}
