import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { request as tlsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Router from "@koa/router";
import { loadConfig } from "../../config.ts";
import {
  createApp,
  createLog,
  handleConnections,
  isSecure,
  type Listening,
  MAX_BODY,
  readJson,
  refuseMethods,
  type RequestState,
  serve,
} from "../../web/mod.ts";
import { testFolder } from "../_servers.ts";
import { testCertificate } from "./_certificate.ts";
import { openConnection, type RawAnswer } from "./_socket.ts";

const SECRET = "slp_admin_secretsecretsecret";

describe("a server", () => {
  const running: Listening[] = [];
  let server: Listening;
  let log = "";
  /** Ends the requests that wait at /slow. */
  let go: () => void;

  /** @param settings by the names of environment variables */
  async function start(settings: Record<string, string> = {}): Promise<Listening> {
    const { settings: checked } = loadConfig(settings);
    const app = createApp({
      log: createLog("test", "debug", { write: (line) => void (log += line) }),
      trustedHops: checked.SEALOOP_TRUSTED_HOPS,
      secure: isSecure(checked),
    });
    const router = new Router<RequestState>();
    router.post("/echo", "/echo", async (ctx) => {
      ctx.body = { got: await readJson(ctx) };
    });
    router.get("/address", "/address", (ctx) => {
      ctx.body = { address: ctx.state.address };
    });
    router.get("/fails", "/fails", () => {
      throw new Error("SELECT secret FROM /home/somebody");
    });
    router.get("/slow", "/slow", async (ctx) => {
      await new Promise<void>((resolve) => go = resolve);
      ctx.body = { slow: true };
    });
    app.use(router.routes());
    app.use(refuseMethods(router));
    const listening = await serve(app, checked, 0);
    running.push(listening);
    return listening;
  }

  before(async () => {
    server = await start();
  });
  beforeEach(() => {
    log = "";
  });
  after(async () => {
    await Promise.all(running.map((listening) => listening.close(0)));
  });

  /** Sends one request as it is, and gives the answer. */
  async function raw(text: string, port = server.port): Promise<RawAnswer> {
    const connection = await openConnection(port);
    connection.write(text);
    const answer = await connection.answer({ head: text.startsWith("HEAD") });
    connection.close();
    return answer;
  }

  const post = (body: string, headers = "content-type: application/json\r\n", path = "/echo") =>
    raw(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${
        Buffer.byteLength(body)
      }\r\n${headers}\r\n${body}`,
    );
  const get = (path: string, headers = "", port?: number) =>
    raw(`GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`, port);
  const detail = ({ body }: RawAnswer) => JSON.parse(body).detail;

  describe("reading a body", () => {
    it("takes JSON of as many bytes as are allowed, and not one more", async () => {
      const largest = JSON.stringify({ a: "x".repeat(MAX_BODY - 8) });
      assert.equal(Buffer.byteLength(largest), MAX_BODY);
      assert.equal((await post(largest)).status, 200);
      const refused = await post(`${largest} `);
      assert.equal(refused.status, 413);
      assert.equal(refused.headers.connection, "close");
      assert.equal(
        detail(refused),
        `The body is too large; at most ${MAX_BODY} bytes are accepted`,
      );
    });

    it("refuses a body that says it is too large before any of it was sent", async () => {
      const head = `POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
      const answer = await raw(
        `${head}content-length: ${MAX_BODY + 1}\r\nexpect: 100-continue\r\n\r\n`,
      );
      assert.equal(answer.status, 413);
    });

    it("refuses a body without a length once it is too large", async () => {
      const connection = await openConnection(server.port);
      connection.write(
        "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n" +
          "transfer-encoding: chunked\r\n\r\n",
      );
      const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
      for (let sent = 0; sent <= MAX_BODY; sent += 0x10000) connection.write(chunk);
      assert.equal((await connection.answer()).status, 413);
      connection.close();
    });

    for (
      const [what, headers] of Object.entries({
        "of another type": "content-type: text/plain\r\n",
        "of no type": "",
        "in another character set": "content-type: application/json; charset=latin1\r\n",
        "that is compressed": "content-type: application/json\r\ncontent-encoding: gzip\r\n",
      })
    ) {
      it(`refuses a body ${what}`, async () => {
        const answer = await post("{}", headers);
        assert.equal(answer.status, 415);
        assert.equal(typeof detail(answer), "string");
      });
    }

    for (
      const [what, body, offset] of [
        ["that ends too early", '{"a":', 5],
        ["with a name twice", '{"a":1,"a":2}', 7],
        ["with something after it", "{} {}", 3],
        ["with a comment", "{/**/}", 1],
        ["with __proto__", '{"__proto__":{}}', 1],
        ["that nests too deep", "[".repeat(101), 100],
      ] as const
    ) {
      it(`says of JSON ${what} where it is malformed`, async () => {
        const answer = await post(body);
        assert.equal(answer.status, 422);
        const [{ loc, type }] = detail(answer);
        assert.deepEqual([loc, type], [["body", offset], "json_invalid"]);
      });
    }

    it("refuses a body that is no UTF-8", async () => {
      const connection = await openConnection(server.port);
      connection.write(
        "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n",
      );
      connection.write(Uint8Array.of(0x22, 0xff, 0x22));
      const answer = await connection.answer();
      assert.equal(answer.status, 422);
      connection.close();
    });
  });

  describe("answering", () => {
    it("echoes a request id, and gives one of its own for what could be none", async () => {
      assert.equal(
        (await get("/address", "x-request-id: a.b-c_1\r\n")).headers["x-request-id"],
        "a.b-c_1",
      );
      for (const bad of ["a b", "x".repeat(129), "<script>", "a,b", ""]) {
        const { headers } = await get("/address", `x-request-id: ${bad}\r\n`);
        assert.match(headers["x-request-id"] ?? "", /^[0-9a-f-]{36}$/, bad);
      }
    });

    it("has a request id and safe headers on errors, too", async () => {
      for (const path of ["/nothing", "/fails"]) {
        const { headers } = await get(path);
        assert.ok(headers["x-request-id"]);
        assert.equal(headers["x-content-type-options"], "nosniff");
        assert.equal(headers["x-frame-options"], "DENY");
        assert.match(headers["content-type"] ?? "", /^application\/json/);
      }
    });

    it("says 404 of an unknown path, and 405 with what there is of a known one", async () => {
      const unknown = await get("/nothing");
      assert.deepEqual([unknown.status, detail(unknown)], [
        404,
        "There is nothing at GET /nothing",
      ]);
      const wrong = await get("/echo");
      assert.deepEqual([wrong.status, wrong.headers.allow], [405, "POST"]);
      assert.equal(detail(wrong), "/echo has no GET, but POST");
      const other = await raw("PROPFIND /address HTTP/1.1\r\nhost: x\r\n\r\n");
      assert.ok([405, 501].includes(other.status));
    });

    it("answers HEAD like GET, without the body", async () => {
      const [whole, head] = [
        await get("/address"),
        await raw("HEAD /address HTTP/1.1\r\nhost: x\r\n\r\n"),
      ];
      assert.deepEqual([head.status, head.body], [200, ""]);
      assert.equal(head.headers["content-length"], whole.headers["content-length"]);
    });

    it("says nothing of itself when it fails, and everything in its log", async () => {
      const answer = await get("/fails", "x-request-id: failing\r\n");
      assert.equal(answer.status, 500);
      assert.doesNotMatch(JSON.stringify(answer), /SELECT|somebody|\.ts/);
      const line = log.split("\n").find((text) => text.includes('"error"'))!;
      assert.equal(JSON.parse(line).request_id, "failing");
      assert.match(line, /SELECT secret/);
    });

    it("logs a request in one line, without key, query or body", async () => {
      const body = JSON.stringify({ password: "hunter2" });
      await post(
        body,
        `content-type: application/json\r\nx-api-key: ${SECRET}\r\n`,
        "/echo?token=hunter3",
      );
      await post(
        `${body}!`,
        `content-type: application/json\r\nauthorization: Bearer ${SECRET}\r\n`,
      );
      const lines = log.trim().split("\n").map((line) => JSON.parse(line));
      assert.deepEqual(lines.map(({ route, status }) => [route, status]), [["/echo", 200], [
        "/echo",
        422,
      ]]);
      assert.doesNotMatch(log, /hunter|secretsecret/);
    });
  });

  describe("being sent what is no HTTP", () => {
    for (
      const [what, text, status] of [
        ["a line that is none", "nonsense\r\n\r\n", 400],
        [
          "two lengths",
          "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
          400,
        ],
        ["headers without end", `GET / HTTP/1.1\r\nx: ${"x".repeat(20_000)}\r\n\r\n`, 431],
        ["an expectation that nobody has", "GET / HTTP/1.1\r\nhost: x\r\nexpect: tea\r\n\r\n", 417],
      ] as const
    ) {
      it(`answers ${what} with ${status}, in the form of all errors`, async () => {
        const answer = await raw(text);
        assert.equal(answer.status, status);
        assert.equal(typeof detail(answer), "string");
        assert.match(answer.headers["x-request-id"] ?? "", /^[0-9a-f-]{36}$/);
      });
    }
  });

  describe("keeping a connection", () => {
    it("promises longer than a load balancer's minute", async () => {
      const { headers } = await get("/address");
      assert.ok(Number(/timeout=(\d+)/.exec(headers["keep-alive"] ?? "")?.[1]) > 60);
    });

    it("ends that of a client that does not get to the end of its headers", async () => {
      const connection = await openConnection(server.port);
      connection.write("GET /address HTTP/1.1\r\nhost: x\r\n");
      const drip = setInterval(() => connection.write("x-more: 1\r\n"), 500);
      const rest = await connection.ended;
      clearInterval(drip);
      assert.match(rest, /^HTTP\/1\.1 408 /);
    });

    it("reads what a client has sent in time before it finds that its own time is over", async () => {
      const timing = { headersTimeout: 500, requestTimeout: 500, connectionsCheckingInterval: 50 };
      const busy = createServer(timing, (_, res) => void res.end("read"));
      const { drain } = handleConnections(busy);
      await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
      const connection = await openConnection((busy.address() as AddressInfo).port);
      connection.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
      for (const until = Date.now() + 1_500; Date.now() < until;);
      assert.equal((await connection.answer()).status, 200);
      await drain(0);
    });
  });

  describe("stopping", () => {
    it("answers what runs, ends what is idle, and takes nothing new", async () => {
      const stopping = await start();
      const [busy, idle] = await Promise.all([
        openConnection(stopping.port),
        openConnection(stopping.port),
      ]);
      idle.write("GET /address HTTP/1.1\r\nhost: x\r\n\r\n");
      await idle.answer();
      go = undefined!;
      busy.write("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n");
      while (!go) await sleep(5);

      const closed = stopping.close(1_000_000); // it waits for nobody who is done
      await idle.ended;
      await assert.rejects(openConnection(stopping.port), /ECONNREFUSED/);
      go();
      const answer = await busy.answer();
      assert.deepEqual([answer.status, answer.headers.connection], [200, "close"]);
      await Promise.all([busy.ended, closed]);
    });

    it("ends what takes too long", async () => {
      const stopping = await start();
      const busy = await openConnection(stopping.port);
      go = undefined!;
      busy.write("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n");
      while (!go) await sleep(5);
      await stopping.close(100);
      assert.equal(await busy.ended, "");
      go();
    });
  });

  describe("behind proxies", () => {
    for (
      const [hops, forwarded, address] of [
        [0, "203.0.113.7", "127.0.0.1"],
        [1, "203.0.113.7", "203.0.113.7"],
        [1, "198.51.100.1, 203.0.113.7", "203.0.113.7"],
        [2, "198.51.100.1, 203.0.113.7, 10.0.0.1", "203.0.113.7"],
        [3, "203.0.113.7, 10.0.0.1", "203.0.113.7"],
        [1, "nonsense", "127.0.0.1"],
        [1, "", "127.0.0.1"],
        [1, "[2001:db8:1:2:3:4:5:6]:4711", "2001:db8:1:2::/64"],
        [1, "203.0.113.7:4711", "203.0.113.7"],
      ] as const
    ) {
      it(`takes ${address} from "${forwarded}" where ${hops} are trusted`, async () => {
        const { port } = await start({ SEALOOP_TRUSTED_HOPS: String(hops) });
        const answer = await get("/address", `x-forwarded-for: ${forwarded}\r\n`, port);
        assert.deepEqual(JSON.parse(answer.body), { address });
      });
    }
  });

  describe("listening", () => {
    for (const address of ["0.0.0.0", "::", "192.0.2.1"]) {
      it(`on ${address} is refused without TLS`, async () => {
        await assert.rejects(start({ SEALOOP_BIND: address }), /Cannot listen on .* without TLS/);
      });
    }

    it("beyond loopback is allowed behind a proxy that ends TLS, which clients are told to insist on", async () => {
      const { port } = await start({ SEALOOP_BIND: "0.0.0.0", SEALOOP_TLS_PROXY: "true" });
      const { headers } = await get("/address", "", port);
      assert.match(headers["strict-transport-security"] ?? "", /max-age=\d+/);
      assert.equal((await get("/address")).headers["strict-transport-security"], undefined);
    });

    it("with a certificate speaks TLS, and nothing else", async () => {
      const folder = await testFolder();
      const { cert, key } = testCertificate();
      const paths = {
        SEALOOP_TLS_CERT: join(folder, "cert"),
        SEALOOP_TLS_KEY: join(folder, "key"),
      };
      writeFileSync(paths.SEALOOP_TLS_CERT, cert);
      writeFileSync(paths.SEALOOP_TLS_KEY, key, { mode: 0o600 });
      const secure = await start({ ...paths, SEALOOP_BIND: "0.0.0.0" });
      assert.match(secure.address, /^https:/);
      const status = await new Promise((resolve, reject) => {
        tlsRequest(
          { host: "127.0.0.1", port: secure.port, path: "/address", ca: cert },
          (answer) => {
            answer.resume();
            resolve(answer.statusCode);
          },
        ).on("error", reject).end();
      });
      assert.equal(status, 200);
      const plain = await openConnection(secure.port);
      plain.write("GET /address HTTP/1.1\r\nhost: x\r\n\r\n");
      assert.doesNotMatch(await plain.ended, /address/);
    });
  });
});
