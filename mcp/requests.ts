/** Requests of MCP clients and their results, as the protocol SDKs hand them to the tool server. */
import type { RequestMarks } from "../contract/mod.ts";

/** A JSON Schema of objects. */
export type ObjectSchema = { readonly type: "object"; readonly [keyword: string]: unknown };

/** The description of a tool that clients receive. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    /** As the next one, only where the tool does not only read: else it has no meaning. */
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint: boolean;
  };
}

/** The result of a tool call. */
export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The HTTP request that carried a message. */
export interface RequestOrigin {
  readonly requestId: string;
  /** Client address, as seen through the trusted proxies. */
  readonly address: string;
  /** The key or access token as sent: it is checked again at every call, and a session's next request may have another token. */
  readonly credential: string;
}

/** A tool call as received. */
export interface ToolCall extends RequestOrigin, RequestMarks {
  /** Default: `mcp`. */
  readonly door?: "mcp" | "a2a";
  readonly name: string;
  /** Not checked yet. */
  readonly input: unknown;
  /** Aborted when the client cancels the call, or by `CallerGone` when its connection closes. */
  readonly signal: AbortSignal;
  /** True where the client follows what the call starts by itself. */
  readonly detached?: boolean;
  /** Does nothing where the client did not ask for progress. */
  progress(done: number, total: number, message: string): void;
}

/** The context of a request that runs an operation. */
export interface RequestContext extends RequestOrigin {
  /** Aborted when the client cancels or leaves. */
  readonly signal: AbortSignal;
}

/** An existing resource. */
export interface ResourceDescription {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType: string;
}

/** Resources that share a form of URI; without variables it is a single resource. */
export interface TemplateDescription {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

/** The contents of a resource. */
interface ResourceContents {
  readonly contents: readonly {
    readonly uri: string;
    readonly mimeType: string;
    readonly text: string;
  }[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The description of a prompt that clients receive. */
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

/** An error response of JSON-RPC. */
export class JsonRpcError extends Error {
  override readonly name = "JsonRpcError";
  constructor(
    /** @see JSON-RPC 2.0 §5.1, and the codes of MCP */
    readonly code: number,
    message: string,
    readonly data?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

/** Handles the requests of one client. Methods that take a {@linkcode RequestContext} throw {@linkcode JsonRpcError}. */
export interface RequestHandlers {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  listTools(): readonly ToolDescription[];
  /** @throws {JsonRpcError} there is no tool of that name */
  callTool(call: ToolCall): Promise<ToolResult>;
  listTemplates(): readonly TemplateDescription[];
  listResources(context: RequestContext): Promise<readonly ResourceDescription[]>;
  readResource(uri: string, context: RequestContext): Promise<ResourceContents>;
  /** Returns true where the key may read a resource, and so may subscribe to its changes. */
  canRead(uri: string): boolean;
  listPrompts(): readonly PromptDescription[];
  getPrompt(name: string, input: unknown, context: RequestContext): Promise<PromptMessages>;
  /**
   * Completes an argument of a resource or prompt.
   *
   * @param name of the argument @param prefix that was typed so far
   */
  complete(name: string, prefix: string, context: RequestContext): Promise<readonly string[]>;
  /** Calls `listener` with the URI of every resource that changes. @returns the function that unsubscribes */
  onResourceChange(listener: (uri: string) => void): () => void;
  /** Tenant of the key. */
  readonly tenant: string;
  /** Logs an error that no response can carry. */
  reportError(error: Error): void;
}
