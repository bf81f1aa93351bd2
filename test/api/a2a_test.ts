import assert from "node:assert/strict";
import { Problem } from "../../contract/mod.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

const TOKEN = "a-token-that-both-sides-know";
const message = { messageId: "m-1", role: "user", parts: [{ kind: "text", text: "Hello" }] };

describe("messages of other agents at the gateway", () => {
  let open: TestGateway;
  let closed: TestGateway;
  before(async () => {
    open = await startGateway({ settings: { SEALOOP_A2A_TOKEN: TOKEN } });
    const away = () => Promise.reject(new Problem("Unavailable", "Temporal can't be reached"));
    Object.assign(open.platform, { temporal: away });
    closed = await startGateway();
  });
  after(async () => {
    await open.stop();
    await closed.stop();
  });

  const post = ({ url }: TestGateway, what: string, token?: string, body: unknown = message) =>
    fetch(`${url}/api/v1/a2a/${what}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token ? { "x-a2a-token": token } : {}) },
      body: JSON.stringify(body),
    });

  it("say whether they are taken", async () => {
    for (const [gateway, status] of [[open, "ok"], [closed, "not_configured"]] as const) {
      const response = await fetch(`${gateway.url}/api/v1/a2a/health`);
      assert.equal((await response.json() as { status: string }).status, status);
    }
  });

  for (const what of ["receive", "dispatch"]) {
    it(`need the shared token to be taken by ${what}`, async () => {
      assert.equal((await post(open, what)).status, 401);
      assert.equal((await post(open, what, `${TOKEN}x`)).status, 401);
      assert.equal((await post(open, what, TOKEN, { parts: [] })).status, 422);
      assert.equal((await post(open, what, TOKEN)).status, 503); // Temporal is away
    });

    it(`are refused by ${what} while no token is set`, async () => {
      const response = await post(closed, what, TOKEN);
      assert.equal(response.status, 503);
      assert.match((await response.json() as { detail: string }).detail, /SEALOOP_A2A_TOKEN/);
    });
  }
});
