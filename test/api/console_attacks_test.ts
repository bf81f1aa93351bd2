import assert from "node:assert/strict";
import { openConnection } from "../runtime/web/_socket.ts";
import { openBrowser } from "./_cookie_jar.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

const PAGES = ["/console", "/console/sign-in", "/console/sign-in/answer", "/console/approvals/x"];

describe("the console and its sessions", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.stop());

  it("are shown in no frame of another page, and neither are answers and errors", async () => {
    for (const path of [...PAGES, "/v1/console/session", "/v1/approvals", "/health", "/nothing"]) {
      const { headers } = await fetch(gateway.url + path);
      assert.equal(headers.get("x-frame-options"), "DENY", path);
    }
    for (const path of PAGES) {
      const { headers } = await fetch(gateway.url + path);
      assert.match(headers.get("content-security-policy")!, /frame-ancestors 'none'/, path);
      assert.equal(headers.get("referrer-policy"), "no-referrer", path);
    }
  });

  it("are not served by a name that resolves to this machine", async () => {
    for (const path of [...PAGES, "/v1/console/session", "/v1/console/sign-in"]) {
      const connection = await openConnection(gateway.port);
      connection.write(
        `GET ${path} HTTP/1.1\r\nhost: rebound.example\r\nsec-fetch-site: same-origin\r\n\r\n`,
      );
      const { status, body } = await connection.answer();
      assert.equal(status, 403, path);
      assert.match(JSON.parse(body).detail, /^Cannot serve this host/);
      connection.close();
    }
  });

  it("take no sign-in from a page of another origin", async () => {
    const foreign: Record<string, string>[] = [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
      { "sec-fetch-site": "same-site", origin: `http://127.0.0.1:${gateway.port + 1}` },
      { "sec-fetch-site": "same-origin", origin: "https://evil.example" },
      { origin: "null" },
    ];
    for (
      const path of ["/v1/console/session", "/v1/console/sign-in", "/v1/console/sign-in/answer"]
    ) {
      for (const headers of foreign) {
        const answer = await openBrowser().send(gateway.url + path, {
          method: "POST",
          headers: { "sec-fetch-site": "none", ...headers, "content-type": "application/json" },
          body: JSON.stringify({ link: "x", answer: "x" }),
        });
        assert.equal(answer.status, 403, JSON.stringify([path, headers]));
        assert.deepEqual(answer.headers.getSetCookie(), []);
      }
    }
  });

  it("say that links alone sign in where no provider is set", async () => {
    const browser = openBrowser();
    const ways = await browser.send(`${gateway.url}/v1/console/sign-in`);
    assert.deepEqual(await ways.json(), { provider: null });
    const begun = await browser.send(`${gateway.url}/v1/console/sign-in`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    assert.equal(begun.status, 503);
    assert.match(JSON.stringify(await begun.json()), /SEALOOP_OIDC_ISSUER/);
  });
});
