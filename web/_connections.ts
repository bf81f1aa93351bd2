import { randomUUID } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

/** What of a connection can't be read as HTTP, by Node's codes; all others are 400. */
const STATUS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/**
 * Minds what a server does below its requests: answers what is no HTTP in the form of all errors, leaves it to the
 * handler whether a client that asks first may send its body, and ends the server without losing an answer.
 *
 * @param server any before it listens
 */
export function mindConnections(server: Server): {
  /** Takes nothing new, lets what runs finish, ends what is idle; after `deadlineMs` it ends everything. */
  drain(deadlineMs: number): Promise<void>;
} {
  const running = new Set<ServerResponse>();
  let draining = false;
  const latest = new WeakMap<Socket, IncomingMessage>();
  server.prependListener("request", (req, res) => {
    latest.set(req.socket, req);
    running.add(res);
    res.once("close", () => running.delete(res));
    if (draining) res.setHeader("connection", "close");
  });
  server.on("checkContinue", (req, res) => void server.emit("request", req, res));
  server.on("checkExpectation", refuseExpectation);
  const refuse = ({ code }: NodeJS.ErrnoException, socket: Socket) => {
    const begun = [...running].some((res) => res.socket === socket && res.headersSent);
    if (!socket.writable || begun) return void socket.destroy();
    socket.end(refusal(STATUS[code ?? ""] ?? 400), () => socket.destroy());
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code !== "ERR_HTTP_REQUEST_TIMEOUT") return refuse(error, socket);
    // A busy process finds a client's time over before it has read what that sent in time: so it reads first.
    const [before, whole] = [latest.get(socket), latest.get(socket)?.complete];
    setImmediate(() => {
      const request = latest.get(socket);
      const hasCome = request?.complete && !(request === before && whole);
      if (!hasCome) refuse(error, socket);
    });
  });
  return {
    async drain(deadlineMs) {
      draining = true;
      for (const res of running) if (!res.headersSent) res.setHeader("connection", "close");
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function refuseExpectation(_: IncomingMessage, { socket }: ServerResponse): void {
  socket?.end(refusal(417), () => socket.destroy());
}

function refusal(status: number): string {
  const body = JSON.stringify({
    detail: `This can't be answered as HTTP: ${STATUS_CODES[status]}`,
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
