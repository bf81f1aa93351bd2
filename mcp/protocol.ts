/**
 * The Model Context Protocol over SSE, as the SDK speaks it. Nothing else of the house imports the SDK, so that its
 * next major version is this file's work alone.
 */
import type { ServerResponse } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

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
  /** Aborted when the client cancels the call or closes its stream. */
  readonly signal: AbortSignal;
  /** Goes nowhere where the client did not ask for it. */
  progress(done: number, total: number, message: string): void;
}

/** What answers a session's requests. */
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

/** One client's open stream. */
export interface Channel {
  readonly id: string;
  /**
   * Takes in a message; what it leads to goes out on the stream.
   *
   * @throws {NotAMessage} it is none of JSON-RPC 2.0
   */
  receive(message: unknown, origin: Origin): Promise<void>;
  close(): Promise<void>;
}

/** A value is no JSON-RPC 2.0 message. */
export class NotAMessage extends Error {
  override readonly name = "NotAMessage";
  constructor() {
    super(
      'Not a JSON-RPC message: send one object with jsonrpc "2.0" and a method, or a response',
    );
  }
}

/** Parameters are checked by the SDK, which answers wrong ones as invalid params; ours would be an internal error. */
const CallTool = z.object({
  method: CallToolRequestSchema.shape.method,
  params: z.any().optional(),
});

/**
 * Answers a request for the event stream. Its first event is `endpoint`, with the path of the session's messages.
 *
 * @param path that messages are posted to; the session's id is added as `sessionId`
 */
export async function openChannel(
  path: string,
  res: ServerResponse,
  handlers: Handlers,
): Promise<Channel> {
  const { name, version, instructions } = handlers;
  const server = new Server({ name, version }, { capabilities: { tools: {} }, instructions });
  server.onerror = (error) => handlers.failed(error);
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...handlers.list()] }));
  server.setRequestHandler(CallTool, async ({ params }, { signal, authInfo, sendNotification }) => {
    const progressToken = params._meta?.progressToken;
    const result = handlers.call({
      ...(authInfo?.extra as unknown as Origin),
      name: params.name,
      input: params.arguments,
      signal,
      progress: (progress, total, message) => {
        if (progressToken === undefined) return;
        sendNotification({
          method: "notifications/progress",
          params: { progressToken, progress, total, message },
        }).catch(handlers.failed);
      },
    });
    if (!result) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    return { ...await result };
  });
  const transport = new SSEServerTransport(path, res);
  await server.connect(transport);
  return {
    id: transport.sessionId,
    async receive(message, { requestId, address }) {
      try {
        const extra = { requestId, address }; // the SDK hands on what came with a message in `authInfo` alone
        await transport.handleMessage(message, {
          authInfo: { token: "", clientId: "", scopes: [], extra },
        });
      } catch {
        throw new NotAMessage();
      }
    },
    close: () => server.close(),
  };
}
