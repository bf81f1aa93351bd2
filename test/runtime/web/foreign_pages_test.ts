import assert from "node:assert/strict";
import { BadSetting, loadConfig } from "../../../config.ts";
import { detailOf, testServer } from "./_server.ts";

const JSON_TYPE = "content-type: application/json\r\n";

describe("a server", () => {
  const { raw, start } = testServer();
  let named: number;

  before(async () => {
    const { port } = await start({
      SEALOOP_TLS_PROXY: "true",
      SEALOOP_GATEWAY_URL: "https://Gateway.example/base",
      SEALOOP_HOSTS: "ops.example,10.1.2.3,FD00::0:7",
    });
    named = port;
  });

  const statusOf = async (head: string, port?: number, target = "/address") =>
    (await raw(`GET ${target} HTTP/1.1\r\n${head}\r\n`, port)).status;
  const post = async (headers: string, port?: number, host = "127.0.0.1:8080") => {
    const head = `POST /echo HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 2\r\n${headers}\r\n`;
    return (await raw(`${head}{}`, port)).status;
  };

  describe("serves the host", () => {
    for (
      const host of [
        "localhost",
        "localhost:8080",
        "LocalHost.",
        "127.0.0.1",
        "127.8.9.10:1",
        "[::1]",
        "[::1]:8080",
        "[0:0:0:0:0:0:0:1]",
      ]
    ) {
      it(`${host}, which is loopback's`, async () => {
        assert.equal(await statusOf(`host: ${host}\r\n`), 200);
      });
    }
    for (
      const host of [
        "gateway.example",
        "GATEWAY.example:443",
        "gateway.example.:8443",
        "ops.example",
        "10.1.2.3:8080",
        "[fd00::7]",
        "[FD00:0::7]:8080",
        "127.0.0.1:8080",
      ]
    ) {
      it(`${host}, which the settings name`, async () => {
        assert.equal(await statusOf(`host: ${host}\r\n`, named), 200);
      });
    }
  });

  describe("refuses", () => {
    for (
      const host of [
        "rebound.example",
        "rebound.example:8080",
        "localhost.rebound.example",
        "127.0.0.1.rebound.example",
        "localhost@rebound.example",
        "rebound.example@localhost",
        "localhost, rebound.example",
        "localhost/",
        "localhost:80:80",
        "localhost..",
        "0.0.0.0",
        "127.0.0",
        "127.0.0.256",
        "2130706433",
        "0x7f000001",
        "::1",
        "[::1",
        "[::]",
        "[::2]",
        "[fe80::1%25lo]",
        "",
      ]
    ) {
      it(`the host ${JSON.stringify(host)}`, async () => {
        assert.equal(await statusOf(`host: ${host}\r\n`), 403);
      });
    }
    for (const host of ["rebound.example", "example", "sub.ops.example", "10.1.2.4", "[fd00::8]"]) {
      it(`the host ${host} behind a proxy, as the settings name others`, async () => {
        assert.equal(await statusOf(`host: ${host}\r\n`, named), 403);
      });
    }
    it("a missing Host, and two of them", async () => {
      assert.equal((await raw("GET /address HTTP/1.0\r\n\r\n")).status, 403);
      assert.equal(await statusOf(""), 400);
      assert.equal(await statusOf("host: localhost\r\nhost: rebound.example\r\n"), 403);
      assert.equal(await statusOf("host: localhost\r\nhost: localhost\r\n"), 403);
    });

    it("a target of another host in absolute form", async () => {
      const of = (target: string) => statusOf("host: localhost\r\n", undefined, target);
      assert.equal(await of("http://localhost:8080/address"), 200);
      assert.equal(await of("http://rebound.example/address"), 403);
      assert.equal(await of("http://localhost@rebound.example/address"), 403);
      assert.equal(await of("ftp://localhost/address"), 403);
    });

    it("what a proxy forwards for another host, and believes no proxy that names one of its own", async () => {
      const own = "host: localhost\r\n";
      assert.equal(await statusOf(`${own}x-forwarded-host: rebound.example\r\n`, named), 403);
      assert.equal(
        await statusOf(`${own}x-forwarded-host: gateway.example, rebound.example\r\n`, named),
        403,
      );
      assert.equal(await statusOf(`${own}x-forwarded-host: gateway.example\r\n`, named), 200);
      const foreign = "host: rebound.example\r\nx-forwarded-host: gateway.example\r\n";
      assert.equal(await statusOf(foreign, named), 403);
    });
  });

  it("says by which names it can be reached, with the setting that adds one", async () => {
    const answer = await raw("GET /address HTTP/1.1\r\nhost: rebound.example\r\n\r\n", named);
    assert.match(detailOf(answer), /localhost, 127\.0\.0\.1, \[::1\], ops\.example.*SEALOOP_HOSTS/);
  });

  it("refuses what changes anything to foreign pages, whatever they send", async () => {
    for (
      const origin of [
        "https://foreign.example",
        "null",
        "",
        "http://127.0.0.1:8081",
        "http://localhost:8080",
        "http://127.0.0.1:8080.foreign.example",
        "http://127.0.0.1:8080/",
        "http://user@127.0.0.1:8080",
        "file://",
        "http://127.0.0.1:8080, http://foreign.example",
      ]
    ) {
      for (const type of [JSON_TYPE, "content-type: text/plain\r\n", ""]) {
        assert.equal(await post(`origin: ${origin}\r\n${type}`), 403, origin + type);
      }
    }
    for (const site of ["cross-site", "same-site"]) {
      assert.equal(await post(`sec-fetch-site: ${site}\r\n${JSON_TYPE}`), 403, "no Origin");
    }
    for (const method of ["PUT", "PATCH", "DELETE", "PROPFIND"]) {
      const head = `${method} /echo HTTP/1.1\r\nhost: localhost\r\n`;
      assert.equal((await raw(`${head}origin: https://foreign.example\r\n\r\n`)).status, 403);
    }
  });

  it("serves its own pages, and programs, which send no Origin", async () => {
    assert.equal(await post(JSON_TYPE), 200);
    assert.equal(await post(`origin: http://127.0.0.1:8080\r\n${JSON_TYPE}`), 200);
    assert.equal(await post(`sec-fetch-site: same-origin\r\n${JSON_TYPE}`), 200);
    const own = `origin: https://gateway.example\r\n${JSON_TYPE}`;
    assert.equal(await post(own, named, "gateway.example"), 200);
    assert.equal(await post(own, named), 200, "a proxy replaces Host");
    assert.equal(
      await post(`origin: https://ops.example\r\n${JSON_TYPE}`, named, "ops.example"),
      200,
    );
    for (const origin of ["http://gateway.example", "https://ops.example", "https://10.1.2.3"]) {
      const foreign = `origin: ${origin}\r\n${JSON_TYPE}`;
      assert.equal(await post(foreign, named, "gateway.example"), 403, origin);
    }
  });

  it("lets pages of every origin read, without giving them the answer", async () => {
    for (const origin of ["https://foreign.example", "null"]) {
      const head = `host: localhost\r\norigin: ${origin}\r\nsec-fetch-site: cross-site\r\n`;
      const answer = await raw(`GET /address HTTP/1.1\r\n${head}\r\n`);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers["access-control-allow-origin"], undefined);
    }
  });

  it("accepts no setting of hosts that is no list of names", () => {
    for (const hosts of ["a.example:80", "https://a.example", "a.example,,b.example", "a b", "*"]) {
      assert.throws(() => loadConfig({ SEALOOP_HOSTS: hosts }), BadSetting, hosts);
    }
  });
});
