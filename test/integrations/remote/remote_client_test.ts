import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import {
  openCircuitBreaker,
  openRemoteClient,
  type RemoteFailed,
} from "../../../integrations/remote/mod.ts";

const SECRET = "token-of-the-test";
const Answer = z.object({ ok: z.boolean() });
const json = { "content-type": "application/json" };

describe("openRemoteClient()", () => {
  let server: Server;
  let url: string;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let requests = 0;

  before(async () => {
    server = createServer((request, response) => {
      requests++;
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    requests = 0;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const open = (timeoutMs = 1_000) =>
    openRemoteClient({
      system: "OPA",
      url,
      timeoutMs,
      credential: () => ({ authorization: `Bearer ${SECRET}` }),
    });
  const get = { method: "GET", path: "/v1", answer: Answer } as const;
  const failure = async (work: Promise<unknown>): Promise<RemoteFailed> => {
    const error = await work.then(() => undefined, (error) => error) as RemoteFailed;
    assert.equal(error?.name, "Unavailable");
    assert.doesNotMatch(`${error.message}${error.stack}`, new RegExp(`${SECRET}|127\\.0\\.0\\.1`));
    return error;
  };

  it("sends the credential and a body, and returns the fields that it was asked for", async () => {
    let sent = "";
    answer = (request, response) => {
      assert.equal(request.headers.authorization, `Bearer ${SECRET}`);
      request.on("data", (chunk) => sent += chunk);
      request.on("end", () => response.writeHead(200, json).end('{"ok":true,"more":1}'));
    };
    const body = { input: { a: 1 } };
    assert.deepEqual(await open().act({ ...get, method: "POST", body }), { ok: true });
    assert.equal(sent, '{"input":{"a":1}}');
  });

  const big = Buffer.alloc(10 * 1024 * 1024, " ");
  const hostile: readonly {
    readonly name: string;
    readonly code: string;
    readonly outcome: string;
    /** Requests of a read. */
    readonly asked: number;
    respond(response: ServerResponse): void;
  }[] = [
    { name: "a time-out", code: "timeout", outcome: "unknown", asked: 1, respond() {} },
    {
      name: "401",
      code: "credential",
      outcome: "not_done",
      asked: 1,
      respond: (to) => to.writeHead(401, json).end(`{"you sent":"${SECRET}"}`),
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
      respond: (to) => to.writeHead(404, json).end("{}"),
    },
    {
      name: "500",
      code: "failed",
      outcome: "unknown",
      asked: 3,
      respond: (to) => to.writeHead(500, json).end(`{"trace":"${SECRET}"}`),
    },
    {
      name: "a body that is cut off",
      code: "unreachable",
      outcome: "unknown",
      asked: 3,
      respond(to) {
        to.writeHead(200, { ...json, "content-length": "100" }).write('{"ok":');
        setTimeout(() => to.destroy(), 5);
      },
    },
    {
      name: "another content type",
      code: "not_json",
      outcome: "unknown",
      asked: 1,
      respond: (to) => to.writeHead(200, { "content-type": "text/html" }).end('{"ok":true}'),
    },
    {
      name: "another shape",
      code: "shape",
      outcome: "unknown",
      asked: 1,
      respond: (to) => to.writeHead(200, json).end('{"ok":"yes"}'),
    },
    {
      name: "a redirect to a private address",
      code: "redirect",
      outcome: "not_done",
      asked: 1,
      respond: (to) => to.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    },
    {
      name: "an answer of 10 MB",
      code: "too_large",
      outcome: "unknown",
      asked: 1,
      respond: (to) => to.writeHead(200, json).end(big),
    },
  ];
  for (const { name, code, outcome, asked, respond } of hostile) {
    it(`fails on ${name}, and asks for it ${asked} times where it reads`, async () => {
      answer = (_, response) => respond(response);
      const acted = await failure(open(300).act(get));
      assert.deepEqual([acted.code, acted.outcome, requests], [code, outcome, 1]);
      requests = 0;
      const read = await failure(open(code === "timeout" ? 300 : 2_000).read(get));
      assert.deepEqual([read.code, requests], [code, asked]);
    });
  }

  it("is not done where nobody listens", async () => {
    const client = openRemoteClient({ system: "OPA", url: "http://127.0.0.1:1" });
    const { code, outcome } = await failure(client.act(get));
    assert.deepEqual([code, outcome], ["unreachable", "not_done"]);
  });

  it("reads again what failed for a moment", async () => {
    answer = (_, response) => {
      if (requests < 3) response.writeHead(502).end();
      else response.writeHead(200, json).end('{"ok":true}');
    };
    assert.deepEqual(await open(2_000).read(get), { ok: true });
    assert.equal(requests, 3);
  });

  it("pauses for as long as a server asks for by Retry-After", async () => {
    answer = (_, response) => response.writeHead(429, { "retry-after": "7" }).end();
    const client = open();
    assert.equal((await failure(client.read(get))).code, "limited");
    assert.match((await failure(client.read(get))).message, /^OPA failed.* in 7 s$/);
    assert.equal(requests, 1);
    assert.match(client.pause()!, /7 s$/);
  });

  it("does not tell why a credential can't be read", async () => {
    const client = openRemoteClient({
      system: "OPA",
      url,
      credential() {
        throw new Error(`Others can read ${SECRET}`);
      },
    });
    assert.equal((await failure(client.read(get))).code, "credential");
    assert.equal(requests, 0);
  });
});

describe("openCircuitBreaker()", () => {
  it("pauses after five failures, then lets one request through", () => {
    let nowMs = 0;
    const breaker = openCircuitBreaker(() => nowMs);
    for (let n = 0; n < 5; n++) {
      assert.equal(breaker.enter(), 0);
      breaker.fail();
    }
    assert.deepEqual([breaker.enter(), breaker.pausedMs()], [30_000, 30_000]);
    nowMs = 30_000;
    assert.deepEqual([breaker.pausedMs(), breaker.pausedMs()], [0, 0], "asking changes nothing");
    assert.equal(breaker.enter(), 0);
    assert.equal(breaker.enter(), 30_000, "one alone");
    breaker.fail();
    nowMs = 60_000;
    assert.equal(breaker.enter(), 0);
    breaker.succeed();
    assert.equal(breaker.enter(), 0);
    breaker.fail(600_000);
    assert.equal(breaker.enter(), 300_000, "five minutes at most");
  });
});
