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
  readonly name: string;
  /** Not checked yet. */
  readonly input: unknown;
  /** Whether the client only asks what would be decided, by `sealoop/dry_run` in `_meta`. */
  readonly dryRun: boolean;
  /** Aborted when the client cancels the call or closes its stream. */
  readonly signal: AbortSignal;
  /** Goes nowhere where the client did not ask for it. */
  progress(done: number, total: number, message: string): void;
}

/** What answers a client's requests. */
export interface Handlers {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  list(): readonly ToolDescription[];
  /** @returns undefined where there is no tool of that name */
  call(call: ToolCall): Promise<ToolResult> | undefined;
  /** Something went wrong that no answer can tell. */
  failed(error: Error): void;
}
