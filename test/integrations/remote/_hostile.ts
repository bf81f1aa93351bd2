/** A server that misbehaves in every way that clients of systems of others must survive. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { testCertificate } from "../../runtime/web/_certificate.ts";

/** Credential that clients send to it; it repeats it in its answers. */
export const SECRET = "token-of-the-test";
/** Header of an answer of JSON. */
export const JSON_TYPE = { "content-type": "application/json" };

/** One way to misbehave. */
export interface HostileCase {
  readonly name: string;
  /** Code and outcome of the failure of a client. */
  readonly code: string;
  readonly outcome: "not_done" | "unknown";
  /** Requests of one read. */
  readonly asked: number;
  /** True where it is the answer's body that is wrong. */
  readonly isBody?: boolean;
  respond(to: ServerResponse): void;
}

const BIG = Buffer.alloc(2 * 1024 * 1024, " ");

/** All ways. */
export const HOSTILE: readonly HostileCase[] = [
  { name: "a time-out", code: "timeout", outcome: "unknown", asked: 1, respond() {} },
  {
    name: "401",
    code: "credential",
    outcome: "not_done",
    asked: 1,
    respond: (to) => to.writeHead(401, JSON_TYPE).end(`{"you sent":"${SECRET}"}`),
  },
  {
    name: "403",
    code: "credential",
    outcome: "not_done",
    asked: 1,
    respond: (to) => to.writeHead(403).end(),
  },
  {
    name: "404",
    code: "refused",
    outcome: "not_done",
    asked: 1,
    respond: (to) => to.writeHead(404, JSON_TYPE).end("{}"),
  },
  {
    name: "429 with Retry-After",
    code: "limited",
    outcome: "not_done",
    asked: 1,
    respond: (to) => to.writeHead(429, { "retry-after": "7" }).end(),
  },
  {
    name: "500",
    code: "failed",
    outcome: "unknown",
    asked: 3,
    respond: (to) => to.writeHead(500, JSON_TYPE).end(`{"trace":"${SECRET}"}`),
  },
  {
    name: "a body that is cut off",
    code: "unreachable",
    outcome: "unknown",
    asked: 3,
    isBody: true,
    respond(to) {
      to.writeHead(200, { ...JSON_TYPE, "content-length": "100" }).write('{"ok":');
      setTimeout(() => to.destroy(), 5);
    },
  },
  {
    name: "another content type",
    code: "not_json",
    outcome: "unknown",
    asked: 1,
    isBody: true,
    respond: (to) => to.writeHead(200, { "content-type": "text/html" }).end('{"ok":true}'),
  },
  {
    name: "another shape",
    code: "shape",
    outcome: "unknown",
    asked: 1,
    isBody: true,
    respond: (to) => to.writeHead(200, JSON_TYPE).end('{"ok":"yes"}'),
  },
  {
    name: "a redirect to a private address",
    code: "redirect",
    outcome: "not_done",
    asked: 1,
    respond: (to) => to.writeHead(302, { location: "http://169.254.169.254/" }).end(),
  },
  {
    name: "an answer of 2 MB",
    code: "too_large",
    outcome: "unknown",
    asked: 1,
    isBody: true,
    respond: (to) => to.writeHead(200, JSON_TYPE).end(BIG),
  },
];

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server whose answers a test sets. */
export interface HostileServer {
  readonly url: string;
  /** Requests since the answer was set. */
  readonly requests: () => number;
  answer(answer: Answer): void;
  close(): void;
}

/** Starts one. @param certificate its certificate and key; default: it speaks plain HTTP */
export async function startHostileServer(
  certificate?: { readonly cert: string; readonly key: string },
): Promise<HostileServer> {
  let answer: Answer = () => {};
  let requests = 0;
  const listener: Answer = (request, response) => {
    requests++;
    answer(request, response);
  };
  const server = certificate ? createTlsServer(certificate, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificate ? "https" : "http"}://127.0.0.1:${port}`,
    requests: () => requests,
    answer(next) {
      answer = next;
      requests = 0;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const DAY = 86_400_000;

/** Returns an authority, and two certificates of its: one that is good, and one that has expired. */
export function expiringCertificates() {
  const authority = testCertificate({ subject: "authority", authority: true });
  return {
    authority,
    good: testCertificate({ issuer: authority }),
    expired: testCertificate({ issuer: authority, from: -2 * DAY, to: -DAY }),
  };
}
