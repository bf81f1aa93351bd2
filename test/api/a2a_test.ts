import assert from "node:assert/strict";
import { Problem } from "../../contract/mod.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

const TOKEN = "a-token-that-both-sides-know";
const message = { messageId: "m-1", role: "user", parts: [{ kind: "text", text: "Hello" }] };

describe("the gateway's messages from other agents", () => {
  let configured: TestGateway;
  let unconfigured: TestGateway;
  before(async () => {
    configured = await startGateway({ settings: { SEALOOP_A2A_TOKEN: TOKEN } });
    const temporal = () => Promise.reject(new Problem("Unavailable", "Temporal can't be reached"));
    Object.assign(configured.platform, { temporal });
    unconfigured = await startGateway();
  });
  after(async () => {
    await configured.stop();
    await unconfigured.stop();
  });

  const post = (
    { url }: TestGateway,
    route: string,
    headers: Readonly<Record<string, string>> = {},
    body: unknown = message,
  ) =>
    fetch(`${url}/api/v1/a2a/${route}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const levels = ({ log }: TestGateway) =>
    log().trim().split("\n").map((line) => JSON.parse(line).level);

  it("report whether they are accepted", async () => {
    for (
      const [gateway, status] of [[configured, "ok"], [unconfigured, "not_configured"]] as const
    ) {
      const response = await fetch(`${gateway.url}/api/v1/a2a/health`);
      assert.equal((await response.json() as { status: string }).status, status);
    }
  });

  for (const route of ["receive", "dispatch"]) {
    it(`need the shared token at ${route}`, async () => {
      const token = { "x-a2a-token": TOKEN };
      assert.equal((await post(configured, route)).status, 401);
      assert.equal((await post(configured, route, { "x-a2a-token": `${TOKEN}x` })).status, 401);
      assert.equal((await post(configured, route, token, { parts: [] })).status, 422);
      assert.equal((await post(configured, route, token)).status, 503); // Temporal is away
    });

    it(`are refused with an invalid key at ${route}, whatever the token`, async () => {
      const headers = { "x-a2a-token": TOKEN, "x-api-key": "slp_partner_nonsense" };
      for (const gateway of [configured, unconfigured]) {
        assert.equal((await post(gateway, route, headers)).status, 401);
      }
    });
  }

  it("are refused without a configured token, which is logged once and is no error", async () => {
    for (const route of ["receive", "dispatch", "receive"]) {
      const response = await post(unconfigured, route, { "x-a2a-token": TOKEN });
      assert.equal(response.status, 503);
      assert.match((await response.json() as { detail: string }).detail, /SEALOOP_A2A_TOKEN/);
    }
    assert.equal(levels(unconfigured).filter((level) => level === "warn").length, 1);
    assert.ok(!levels(unconfigured).includes("error"));
  });

  it("need the header x-a2a-token, says the description", async () => {
    const description = await (await fetch(`${configured.url}/openapi.json`)).json() as {
      paths: Record<string, { post: { security: unknown; responses: object } }>;
      components: { securitySchemes: Record<string, { in: string; name: string }> };
    };
    const { in: place, name } = description.components.securitySchemes.a2a_token!;
    assert.deepEqual([place, name], ["header", "x-a2a-token"]);
    for (const route of ["receive", "dispatch"]) {
      const { security, responses } = description.paths[`/api/v1/a2a/${route}`]!.post;
      assert.deepEqual(security, [{ a2a_token: [] }]);
      assert.ok("401" in responses && "503" in responses);
    }
  });
});
