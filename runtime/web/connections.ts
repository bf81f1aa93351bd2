import { randomUUID } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Context } from "koa";

/** Status of requests that can't be read as HTTP, by Node's error codes; others get 400. */
const STATUS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/**
 * Handles a server's connections: answers malformed HTTP with a JSON error, lets handlers decide about
 * `Expect: 100-continue`, and closes the server without losing responses.
 *
 * @param server before it listens
 */
export function handleConnections(server: Server): {
  /** Ends each connection with its next answer. */
  retire(): void;
  /** Accepts no more requests, waits for responses, and closes idle connections; after the timeout all of them. */
  drain(timeoutMs: number): Promise<void>;
} {
  const responses = new Set<ServerResponse>();
  const latestRequests = new WeakMap<Socket, IncomingMessage>();
  let isRetiring = false;
  server.prependListener("request", (req, res) => {
    latestRequests.set(req.socket, req);
    responses.add(res);
    res.once("close", () => responses.delete(res));
    if (isRetiring) res.setHeader("connection", "close");
  });
  server.on("checkContinue", (req, res) => void server.emit("request", req, res));
  server.on("checkExpectation", refuseExpectation);
  const refuse = ({ code }: NodeJS.ErrnoException, socket: Socket) => {
    const hasBegun = [...responses].some((res) => res.socket === socket && res.headersSent);
    if (!socket.writable || hasBegun) return void socket.destroy();
    socket.end(formatError(STATUS[code ?? ""] ?? 400), () => socket.destroy());
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code !== "ERR_HTTP_REQUEST_TIMEOUT") return refuse(error, socket);
    // A busy process may see the timeout before it has read a request that arrived in time: read first.
    const earlier = latestRequests.get(socket);
    const wasComplete = earlier?.complete;
    setImmediate(() => {
      const request = latestRequests.get(socket);
      const hasArrived = request?.complete && !(request === earlier && wasComplete);
      if (!hasArrived) refuse(error, socket);
    });
  });
  function retire(): void {
    isRetiring = true;
    for (const res of responses) if (!res.headersSent) res.setHeader("connection", "close");
  }
  return {
    retire,
    async drain(timeoutMs) {
      retire();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Returns a signal that aborts when the client closes its connection before it has the response. */
export function createDisconnectSignal({ res }: Context, reason?: Error): AbortSignal {
  const controller = new AbortController();
  const abort = () => {
    if (!res.writableFinished) controller.abort(reason);
  };
  if (res.closed) abort();
  else res.once("close", abort);
  return controller.signal;
}

function refuseExpectation(_: IncomingMessage, { socket }: ServerResponse): void {
  socket?.end(formatError(417), () => socket.destroy());
}

function formatError(status: number): string {
  const body = JSON.stringify({
    detail: `Cannot read the request: ${STATUS_CODES[status]}`,
  });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${randomUUID()}`,
    "connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
