import assert from "node:assert/strict";
import { findKeys, hashKey } from "../../store/keys/mod.ts";
import { ensureSecondsLeftInDay } from "../_time.ts";
import { DAILY_LIMIT, describedGateway } from "./_described_gateway.ts";

describe("the gateway's access control", () => {
  const described = describedGateway();
  const { call } = described;

  it("answers 401 without a key where one is needed, and everywhere with an invalid one", async () => {
    const without = await call("/v1/itsm/incidents");
    assert.deepEqual([without.status, typeof without.body.detail], [401, "string"]);
    const { partner } = described;
    for (const key of ["slp_partner_nonsense", "x", `${partner}x`, partner.toUpperCase()]) {
      for (const path of ["/v1/itsm/incidents", "/v1/health"]) {
        assert.equal((await call(path, { key })).status, 401, `${key} ${path}`);
      }
    }
  });

  it("names the header of the key where the tool server's was used", async () => {
    const needs = "This needs an API key in the header x-api-key";
    const without = await call("/v1/itsm/incidents");
    assert.deepEqual(without.body, { detail: needs });
    const headers = { authorization: `Bearer ${described.partner}` };
    const wrongHeader = await call("/v1/itsm/incidents", { headers });
    assert.deepEqual([wrongHeader.status, wrongHeader.body], [401, {
      detail: `${needs}; Authorization, which was sent, is for the tool server`,
    }]);
  });

  it("answers 403 to a tier that is too low, and to an audit key that writes", async () => {
    const body = { tenant: "x", tier: "free" };
    assert.equal((await call("/v1/keys/generate", { key: described.partner, body })).status, 403);
    const audit = await described.gateway.key({ scope: "audit", tier: "enterprise" });
    const ticket = { title: "x", description: "y", severity: "low" };
    const refused = await call("/v1/itsm/tickets", { key: audit, body: ticket });
    assert.equal(refused.status, 403);
    const receipt = refused.headers.get("x-receipt-id")!;
    assert.match(receipt, /^[0-9a-f]{16}$/, "a refusal is sealed, too");
    assert.equal((await call("/v1/itsm/incidents", { key: audit })).status, 200);
  });

  it("refuses to issue a key whose holder looks like another one", async () => {
    const admin = await described.gateway.key({ tier: "admin" });
    const issue = (fields: object) =>
      call("/v1/keys/generate", {
        key: admin,
        body: { tenant: "acme", tier: "free", ...fields },
      });
    const confusable = [
      "nіght-agent",
      "night\u200b-agent",
      "night\u202e-agent",
      "night\u00a0x",
    ];
    for (const principal of confusable) {
      const { status, body } = await issue({ principal });
      assert.deepEqual([status, body.detail[0].loc], [422, ["body", "principal"]], principal);
    }
    assert.equal((await issue({ tenant: "a\u2063cme" })).status, 422);
    for (const principal of ["Zoë Müller", "Анна Example", "山田 太郎", "Αθηνά"]) {
      assert.equal((await issue({ principal })).status, 200, principal);
    }
  });

  it("answers 401 to an expired key", async () => {
    const key = await described.gateway.key({ expiresAt: new Date(Date.now() - 1000) });
    assert.equal((await call("/v1/itsm/incidents", { key })).status, 401);
  });

  it("logs the id of the key, also of a refused call, and null without a valid one", async () => {
    const body = { tenant: "x", tier: "free" };
    const { gateway } = described;
    const secret = await gateway.key();
    const { id } = (await findKeys(gateway.platform.store.asPlatform(), [hashKey(secret)]))[0]!;
    const answers = [
      await call("/v1/itsm/incidents", { key: secret }),
      await call("/v1/keys/generate", { key: secret, body }),
      await call("/v1/health"),
      await call("/v1/health", { key: `${secret}x` }),
    ];
    assert.deepEqual(answers.map(({ status }) => status), [200, 403, 200, 401]);
    const lines = gateway.log().trim().split("\n").map((line) => JSON.parse(line));
    const logged = answers.map(({ headers }) =>
      lines.find(({ request_id }) => request_id === headers.get("x-request-id")).key_id
    );
    assert.deepEqual(logged, [id, id, null, null]);
  });

  describe("limits", () => {
    beforeEach(() => ensureSecondsLeftInDay(60)); // calls are counted per day

    it("let exactly the limit pass, of one call more at once", async () => {
      const key = await described.gateway.key({ tier: "free" });
      const answers = await Promise.all(
        Array.from({ length: DAILY_LIMIT + 1 }, () => call("/v1/ledger", { key })),
      );
      const passed = answers.filter(({ status }) => status === 200);
      assert.equal(passed.length, DAILY_LIMIT);
      const left = passed.map(({ headers }) => Number(headers.get("ratelimit-remaining")));
      assert.deepEqual(left.toSorted((a, b) => a - b), [0, 1, 2, 3, 4]);
      const refused = answers.find(({ status }) => status === 429)!;
      assert.deepEqual(refused.body, { detail: `Rate limit exceeded (${DAILY_LIMIT}/day)` });
      const seconds = Number(refused.headers.get("retry-after"));
      assert.ok(seconds > 0 && seconds <= 86_400);
      assert.equal(refused.headers.get("ratelimit-limit"), String(DAILY_LIMIT));
      assert.equal(refused.headers.get("ratelimit-remaining"), "0");
      assert.equal(refused.headers.get("ratelimit-reset"), String(seconds));
    });

    it("count callers without a key by their address, as the trusted proxy saw it", async () => {
      const from = (address: string) => ({ headers: { "x-forwarded-for": `9.9.9.9, ${address}` } });
      const all = await Promise.all(
        Array.from({ length: DAILY_LIMIT + 1 }, () => call("/v1/ledger", from("203.0.113.1"))),
      );
      assert.equal(all.filter(({ status }) => status === 429).length, 1);
      assert.equal((await call("/v1/ledger", from("203.0.113.2"))).status, 200);
    });

    it("do not count health checks and pages", async () => {
      const headers = { "x-forwarded-for": "203.0.113.3" };
      for (let i = 0; i <= DAILY_LIMIT; i++) {
        assert.equal((await call("/v1/health", { headers })).status, 200);
        assert.equal((await fetch(`${described.gateway.url}/docs`, { headers })).status, 200);
      }
      assert.equal((await call("/v1/ledger", { headers })).status, 200);
    });
  });
});
