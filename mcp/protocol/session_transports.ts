/** Sessions of clients of revisions with a handshake: over SSE and over Streamable HTTP. */
import type { ServerResponse } from "node:http";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import {
  type EventStore,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { RequestHandlers, RequestOrigin } from "../requests.ts";
import { toAuthInfo } from "./_shared.ts";
import { createSessionServer } from "./session_server.ts";

/** An open SSE stream of one client. */
export interface SseChannel {
  readonly id: string;
  /**
   * Handles a message; responses go out on the stream.
   *
   * @throws {InvalidMessage} it is no JSON-RPC 2.0 message
   */
  receive(message: unknown, origin: RequestOrigin): Promise<void>;
  close(): Promise<void>;
}

/** A value is no JSON-RPC 2.0 message. */
export class InvalidMessage extends Error {
  override readonly name = "InvalidMessage";
  constructor() {
    super(
      'Not a JSON-RPC message: send one object with jsonrpc "2.0" and a method, or a response',
    );
  }
}

/**
 * Opens the event stream that a client has requested. Its first event is `endpoint`, with the path for messages.
 *
 * @param path that messages are posted to; the session's id is added as `sessionId`
 */
export async function openSseChannel(
  path: string,
  res: ServerResponse,
  handlers: RequestHandlers,
): Promise<SseChannel> {
  const transport = new SSEServerTransport(path, res);
  const { close } = await connect(transport, handlers);
  return {
    id: transport.sessionId,
    async receive(message, origin) {
      try {
        await transport.handleMessage(message, { authInfo: toAuthInfo(origin) });
      } catch {
        throw new InvalidMessage();
      }
    },
    close,
  };
}

/** A request to the single address of Streamable HTTP. */
export interface HttpExchange extends RequestOrigin {
  /** Without its body. */
  readonly request: Request;
  /** The parsed body; undefined where the method has none. */
  readonly body: unknown;
}

/** A session of one client over Streamable HTTP. */
export interface HttpSession {
  handle(exchange: HttpExchange): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Opens a session, whose first message must be `initialize`.
 *
 * @param id that the client must send from then on; undefined for a session of one request
 * @param events of the session, so that a client can resume a broken stream
 * @param json true to answer with JSON instead of a stream
 */
export async function openHttpSession(
  handlers: RequestHandlers,
  { id, events, json = false }: { id?: string; events?: EventStore; json?: boolean },
): Promise<HttpSession> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: id === undefined ? undefined : () => id,
    enableJsonResponse: json,
    ...(events ? { eventStore: events } : {}),
  });
  const { close } = await connect(transport, handlers);
  return {
    handle: ({ request, body, ...origin }) =>
      transport.handleRequest(request, { parsedBody: body, authInfo: toAuthInfo(origin) }),
    close,
  };
}

async function connect(transport: Transport, handlers: RequestHandlers) {
  const observed = new ObservedTransport(transport);
  const server = createSessionServer(handlers, () => observed.isClosed);
  await server.connect(observed);
  return { close: () => server.close() };
}

/**
 * Forwards everything to another transport and remembers that it has closed. The SDK aborts calls when a client cancels
 * and when its connection closes, with the same reason.
 */
class ObservedTransport implements Transport {
  isClosed = false;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  get sessionId(): string | undefined {
    return this.#transport.sessionId;
  }

  async start(): Promise<void> {
    this.#transport.onclose = () => {
      this.isClosed = true;
      this.onclose?.();
    };
    this.#transport.onerror = (error) => this.onerror?.(error);
    this.#transport.onmessage = (message, extra) => this.onmessage?.(message, extra);
    await this.#transport.start();
  }

  send: Transport["send"] = (message, options) => this.#transport.send(message, options);

  close(): Promise<void> {
    return this.#transport.close();
  }
}
