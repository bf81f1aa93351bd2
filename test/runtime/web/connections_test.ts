import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { request as tlsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Context } from "koa";
import { createDisconnectSignal, handleConnections } from "../../../runtime/web/mod.ts";
import { testFolder } from "../../_run.ts";
import { testCertificate } from "./_certificate.ts";
import { detailOf, testServer } from "./_server.ts";
import { openConnection } from "./_socket.ts";

describe("a web server's connections", () => {
  const server = testServer();
  const { get, raw } = server;

  describe("receiving malformed HTTP", () => {
    for (
      const [what, text, status] of [
        ["a malformed request line", "nonsense\r\n\r\n", 400],
        [
          "two content lengths",
          "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
          400,
        ],
        ["too long headers", `GET / HTTP/1.1\r\nx: ${"x".repeat(20_000)}\r\n\r\n`, 431],
        ["an unknown expectation", "GET / HTTP/1.1\r\nhost: localhost\r\nexpect: tea\r\n\r\n", 417],
      ] as const
    ) {
      it(`answers ${what} with ${status} and a JSON error`, async () => {
        const answer = await raw(text);
        assert.equal(answer.status, status);
        assert.equal(typeof detailOf(answer), "string");
        assert.match(answer.headers["x-request-id"] ?? "", /^[0-9a-f-]{36}$/);
      });
    }
  });

  describe("keeping connections", () => {
    it("keeps them longer than a load balancer's minute", async () => {
      const { headers } = await get("/address");
      assert.ok(Number(/timeout=(\d+)/.exec(headers["keep-alive"] ?? "")?.[1]) > 60);
    });

    it("ends that of a client that does not finish its headers", async () => {
      const connection = await openConnection(server.port);
      connection.write("GET /address HTTP/1.1\r\nhost: localhost\r\n");
      const drip = setInterval(() => connection.write("x-more: 1\r\n"), 500);
      const rest = await connection.ended;
      clearInterval(drip);
      assert.match(rest, /^HTTP\/1\.1 408 /);
    });

    it("reads a request that arrived in time before it enforces the timeout", async () => {
      const timing = { headersTimeout: 500, requestTimeout: 500, connectionsCheckingInterval: 50 };
      const busy = createServer(timing, (_, res) => void res.end("read"));
      const { drain } = handleConnections(busy);
      await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
      const connection = await openConnection((busy.address() as AddressInfo).port);
      connection.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
      for (const until = Date.now() + 1_500; Date.now() < until;);
      assert.equal((await connection.answer()).status, 200);
      await drain(0);
    });
  });

  it("abort the signal for a client that has left before it is created", async () => {
    const lonely = createServer();
    await new Promise<void>((resolve) => lonely.listen(0, "127.0.0.1", resolve));
    const connection = await openConnection((lonely.address() as AddressInfo).port);
    connection.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    const [, res] = await once(lonely, "request");
    connection.close();
    await once(res, "close");
    assert.equal(createDisconnectSignal({ res } as Context).aborted, true);
    lonely.close();
  });

  describe("stopping", () => {
    it("finishes running requests, closes idle connections, and accepts no new ones", async () => {
      const stopping = await server.start();
      const [busy, idle] = await Promise.all([
        openConnection(stopping.port),
        openConnection(stopping.port),
      ]);
      idle.write("GET /address HTTP/1.1\r\nhost: localhost\r\n\r\n");
      await idle.answer();
      busy.write("GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n");
      const finish = await server.slowRequest();

      const closed = stopping.close(1_000_000); // idle connections are not waited for
      await idle.ended;
      await assert.rejects(openConnection(stopping.port), /ECONNREFUSED/);
      finish();
      const answer = await busy.answer();
      assert.deepEqual([answer.status, answer.headers.connection], [200, "close"]);
      await Promise.all([busy.ended, closed]);
    });

    it("first asks clients to go elsewhere, and still answers, new connections too", async () => {
      const stopping = await server.start();
      const kept = await openConnection(stopping.port);
      kept.write("GET /address HTTP/1.1\r\nhost: localhost\r\n\r\n");
      assert.equal((await kept.answer()).headers.connection, "keep-alive");
      stopping.retire();
      kept.write("GET /address HTTP/1.1\r\nhost: localhost\r\n\r\n");
      const last = await kept.answer();
      assert.deepEqual([last.status, last.headers.connection], [200, "close"]);
      await kept.ended;
      const another = await openConnection(stopping.port);
      another.write("GET /address HTTP/1.1\r\nhost: localhost\r\n\r\n");
      assert.equal((await another.answer()).status, 200);
      await stopping.close(0);
    });

    it("closes connections after the timeout", async () => {
      const stopping = await server.start();
      const busy = await openConnection(stopping.port);
      busy.write("GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n");
      const finish = await server.slowRequest();
      await stopping.close(100);
      assert.equal(await busy.ended, "");
      finish();
    });
  });

  describe("listening", () => {
    for (const address of ["0.0.0.0", "::", "192.0.2.1"]) {
      it(`on ${address} is refused without TLS`, async () => {
        await assert.rejects(
          server.start({ SEALOOP_BIND: address }),
          /Cannot listen on .* without TLS/,
        );
      });
    }

    it("beyond loopback is allowed behind a TLS proxy, with Strict-Transport-Security", async () => {
      const { port } = await server.start({ SEALOOP_BIND: "0.0.0.0", SEALOOP_TLS_PROXY: "true" });
      const { headers } = await get("/address", "", port);
      assert.match(headers["strict-transport-security"] ?? "", /max-age=\d+/);
      assert.equal((await get("/address")).headers["strict-transport-security"], undefined);
    });

    it("with a certificate accepts TLS alone", async () => {
      const folder = await testFolder();
      const { cert, key } = testCertificate();
      const paths = {
        SEALOOP_TLS_CERT: join(folder, "cert"),
        SEALOOP_TLS_KEY: join(folder, "key"),
      };
      writeFileSync(paths.SEALOOP_TLS_CERT, cert);
      writeFileSync(paths.SEALOOP_TLS_KEY, key, { mode: 0o600 });
      const secure = await server.start({ ...paths, SEALOOP_BIND: "0.0.0.0" });
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
      plain.write("GET /address HTTP/1.1\r\nhost: localhost\r\n\r\n");
      assert.doesNotMatch(await plain.ended, /address/);
    });
  });
});
