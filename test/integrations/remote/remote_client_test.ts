import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import {
  openCircuitBreaker,
  openRemoteClient,
  type RemoteFailed,
} from "../../../integrations/remote/mod.ts";
import { program } from "../../_programs.ts";
import { testFolder } from "../../_run.ts";
import {
  expiringCertificates,
  HOSTILE,
  type HostileServer,
  JSON_TYPE,
  SECRET,
  startHostileServer,
} from "./_hostile.ts";

const Answer = z.object({ ok: z.boolean() });

describe("openRemoteClient()", () => {
  let server: HostileServer;
  before(async () => {
    server = await startHostileServer();
  });
  beforeEach(() => server.answer(() => {}));
  after(() => server.close());

  const open = (timeoutMs = 60_000) =>
    openRemoteClient({
      system: "OPA",
      url: server.url,
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
    server.answer((request, response) => {
      assert.equal(request.headers.authorization, `Bearer ${SECRET}`);
      request.on("data", (chunk) => sent += chunk);
      request.on("end", () => response.writeHead(200, JSON_TYPE).end('{"ok":true,"more":1}'));
    });
    const body = { input: { a: 1 } };
    assert.deepEqual(await open().act({ ...get, method: "POST", body }), { ok: true });
    assert.equal(sent, '{"input":{"a":1}}');
  });

  it("sends a form", async () => {
    let sent = "";
    server.answer((request, response) => {
      assert.equal(request.headers["content-type"], "application/x-www-form-urlencoded");
      request.on("data", (chunk) => sent += chunk);
      request.on("end", () => response.writeHead(200, JSON_TYPE).end('{"ok":true}'));
    });
    const form = { grant_type: "client_credentials", text: "a&b" };
    await open().read({ ...get, method: "POST", form });
    assert.equal(sent, "grant_type=client_credentials&text=a%26b");
  });

  for (const { name, code, outcome, asked, respond } of HOSTILE) {
    it(`fails on ${name}, and asks for it ${asked} times where it reads`, async () => {
      server.answer((_, response) => respond(response));
      const isTimeout = code === "timeout";
      const client = () => isTimeout ? open(300) : open();
      // The time may be over before the server has got the request.
      const requests = () => isTimeout ? Math.max(1, server.requests()) : server.requests();
      const acted = await failure(client().act(get));
      assert.deepEqual([acted.code, acted.outcome, requests()], [code, outcome, 1]);
      server.answer((_, response) => respond(response));
      const read = await failure(client().read(get));
      assert.deepEqual([read.code, requests()], [code, asked]);
    });
  }

  it("is not done where nobody listens", async () => {
    const client = openRemoteClient({ system: "OPA", url: "http://127.0.0.1:1" });
    const { code, outcome } = await failure(client.act(get));
    assert.deepEqual([code, outcome], ["unreachable", "not_done"]);
  });

  it("reads again what failed for a moment", async () => {
    server.answer((_, response) => {
      if (server.requests() < 3) response.writeHead(502).end();
      else response.writeHead(200, JSON_TYPE).end('{"ok":true}');
    });
    assert.deepEqual(await open().read(get), { ok: true });
    assert.equal(server.requests(), 3);
  });

  it("pauses for as long as a server asks for by Retry-After", async () => {
    server.answer((_, response) => response.writeHead(429, { "retry-after": "200" }).end());
    const client = open();
    assert.equal((await failure(client.read(get))).code, "limited");
    assert.match((await failure(client.read(get))).message, /^OPA failed.* in (1\d\d|200) s$/);
    assert.equal(server.requests(), 1);
    assert.match(client.pause()!, /(1\d\d|200) s$/);
  });

  it("reads nothing but the status where no answer is needed", async () => {
    server.answer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end());
    await open().read({ method: "GET", path: "/ready" });
    server.answer((_, response) => response.writeHead(503).end());
    const { code } = await failure(open().act({ method: "GET", path: "/ready" }));
    assert.equal(code, "failed");
  });

  it("does not pause because a server refuses requests", async () => {
    server.answer((_, response) => response.writeHead(404).end());
    const client = open();
    for (let n = 0; n < 6; n++) assert.equal((await failure(client.read(get))).code, "refused");
    assert.equal(client.pause(), undefined);
  });

  it("sends nothing where the certificate has expired, whoever has signed it", async () => {
    const { authority, good, expired } = expiringCertificates();
    const ca = join(await testFolder(), "ca.pem");
    await writeFile(ca, authority.cert);
    const servers = await Promise.all([good, expired].map(startHostileServer));
    for (const one of servers) one.answer((_, response) => response.writeHead(200).end());
    const { stdout } = await promisify(execFile)(process.execPath, [
      await program("test/integrations/remote/_trusting_program.ts"),
      ...servers.map(({ url }) => url),
    ], { env: { ...process.env, NODE_EXTRA_CA_CERTS: ca } });
    assert.deepEqual(stdout.trim().split("\n"), ["ok", "tls not_done"]);
    assert.deepEqual(servers.map((one) => one.requests()), [1, 0]);
    for (const one of servers) one.close();
  });

  it("does not tell why a credential can't be read", async () => {
    const client = openRemoteClient({
      system: "OPA",
      url: server.url,
      credential() {
        throw new Error(`Others can read ${SECRET}`);
      },
    });
    assert.equal((await failure(client.read(get))).code, "credential");
    assert.equal(server.requests(), 0);
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
