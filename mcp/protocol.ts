/**
 * The Model Context Protocol, as its SDKs speak it: revisions with a handshake by the first one (over SSE and over
 * Streamable HTTP), those without by the second. Nothing else of the house imports them, so that their next major
 * version is this file's work alone.
 */
import type { ServerResponse } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import {
  type EventStore,
  WebStandardStreamableHTTPServerTransport as HttpTransport,
} from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import {
  classifyInboundRequest,
  createMcpHandler,
  type JSONRPCMessage,
  ProtocolError,
  Server as CurrentServer,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import type { Handlers, Origin } from "./handlers.ts";

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
  const server = serverOf(handlers);
  const transport = new SSEServerTransport(path, res);
  await server.connect(transport);
  return {
    id: transport.sessionId,
    async receive(message, origin) {
      try {
        await transport.handleMessage(message, { authInfo: carried(origin) });
      } catch {
        throw new NotAMessage();
      }
    },
    close: () => server.close(),
  };
}

/** An HTTP request to the one address of Streamable HTTP. */
export interface Exchange extends Origin {
  /** Without its body. */
  readonly request: Request;
  /** The body as a value; undefined where the method has none. */
  readonly body: unknown;
}

/** One client's session over Streamable HTTP, of a revision with a handshake. */
export interface HttpSession {
  answer(exchange: Exchange): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Opens a session, which is to be given the client's `initialize` next.
 *
 * @param id that the client has to send from then on; undefined for what lives no longer than one request
 * @param events remembers what was sent, so that a client can take up a stream that broke
 */
export async function openHttpSession(
  handlers: Handlers,
  { id, events, json = false }: { id?: string; events?: EventStore; json?: boolean },
): Promise<HttpSession> {
  const server = serverOf(handlers);
  const transport = new HttpTransport({
    sessionIdGenerator: id === undefined ? undefined : () => id,
    enableJsonResponse: json,
    ...(events ? { eventStore: events } : {}),
  });
  await server.connect(transport);
  return {
    answer: ({ request, body, ...origin }) =>
      transport.handleRequest(request, { parsedBody: body, authInfo: carried(origin) }),
    close: () => server.close(),
  };
}

/** Clients of revisions without sessions and handshake. */
export interface CurrentClients {
  /** Whether this request is of such a revision, or at least of none with a handshake. */
  speak(exchange: Exchange): boolean;
  answer(exchange: Exchange, handlers: Handlers): Promise<Response>;
  /** Ends what they listen to. */
  close(): Promise<void>;
}

/** Starts to serve them. @param failed something went wrong that no answer can tell */
export function serveCurrentClients(failed: (error: Error) => void): CurrentClients {
  const { fetch, close } = createMcpHandler(
    ({ authInfo }) => {
      const { handlers, ...origin } = authInfo!.extra as unknown as Served;
      return currentServerOf(handlers, () => origin);
    },
    { legacy: "reject", onerror: failed },
  );
  return {
    speak({ request: { method, headers }, body }) {
      const of = (name: string) => headers.get(name) ?? undefined;
      return classifyInboundRequest({
        httpMethod: method,
        protocolVersionHeader: of("mcp-protocol-version"),
        mcpMethodHeader: of("mcp-method"),
        mcpNameHeader: of("mcp-name"),
        body,
      }).kind !== "legacy";
    },
    answer: ({ request, body, ...origin }, handlers) =>
      fetch(request, { parsedBody: body, authInfo: carried({ ...origin, handlers }) }),
    close,
  };
}

/** A client at the other end of a pipe, of whatever revision. */
export interface Wire {
  /** Takes in a message of JSON-RPC 2.0. */
  take(message: object): void;
  close(): Promise<void>;
}

/** Starts to serve it. @param origin of the next request @param send is given what goes out */
export function serveWire(
  handlers: Handlers,
  origin: () => Origin,
  send: (message: object) => void,
): Wire {
  const transport: Transport = {
    start: () => Promise.resolve(),
    send: (message) => Promise.resolve(send(message)),
    close: () => Promise.resolve(transport.onclose?.()),
  };
  const { close } = serveStdio(
    () => currentServerOf(handlers, origin),
    { transport, onerror: handlers.failed },
  );
  return { take: (message) => transport.onmessage?.(message as JSONRPCMessage), close };
}

/** What a request of theirs is answered with. */
type Served = Origin & { readonly handlers: Handlers };

/** Parameters are checked by the SDK, which answers wrong ones as invalid params; ours would be an internal error. */
const CallTool = z.object({
  method: CallToolRequestSchema.shape.method,
  params: z.any().optional(),
});

function serverOf(handlers: Handlers): Server {
  const { name, version, instructions } = handlers;
  const server = new Server({ name, version }, { capabilities: { tools: {} }, instructions });
  server.onerror = (error) => handlers.failed(error);
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...handlers.list()] }));
  server.setRequestHandler(CallTool, async ({ params }, { signal, authInfo, sendNotification }) => {
    const token = params._meta?.progressToken;
    const result = handlers.call({
      ...(authInfo?.extra as unknown as Origin),
      name: params.name,
      input: params.arguments,
      dryRun: params._meta?.["sealoop/dry_run"] === true,
      signal,
      progress: teller(token, sendNotification, handlers),
    });
    if (!result) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    return { ...await result };
  });
  return server;
}

function currentServerOf(handlers: Handlers, origin: () => Origin): CurrentServer {
  const { name, version, instructions } = handlers;
  const server = new CurrentServer({ name, version }, {
    capabilities: { tools: {} },
    instructions,
  });
  server.onerror = (error) => handlers.failed(error);
  server.setRequestHandler("tools/list", () => ({ tools: [...handlers.list()] }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const result = handlers.call({
      ...origin(),
      name: params.name,
      input: params.arguments,
      dryRun: params._meta?.["sealoop/dry_run"] === true,
      signal: mcpReq.signal,
      progress: teller(mcpReq._meta?.progressToken, (told) => mcpReq.notify(told), handlers),
    });
    if (!result) throw new ProtocolError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    const { content, ...rest } = await result;
    return { ...rest, content: [...content] };
  });
  return server;
}

/** Tells a call's progress, where the client gave a token for it. */
function teller(
  progressToken: string | number | undefined,
  notify: (told: {
    method: "notifications/progress";
    params: { progressToken: string | number; progress: number; total: number; message: string };
  }) => Promise<void>,
  { failed }: Handlers,
) {
  return (progress: number, total: number, message: string) => {
    if (progressToken === undefined) return;
    const params = { progressToken, progress, total, message };
    notify({ method: "notifications/progress", params }).catch(failed);
  };
}

/** The SDKs hand on what came with a message in `authInfo` alone. No token goes in there. */
const carried = (extra: object) => ({
  token: "",
  clientId: "",
  scopes: [],
  extra: extra as Record<string, unknown>,
});
