import assert from "node:assert/strict";
import {
  budgetsOf,
  costOf,
  findPrice,
  maxCostOf,
  openHoldBack,
  openMasker,
  readModelPolicy,
  shippedPrices,
  TooLongToCheck,
} from "../../../operations/models/use/mod.ts";

const KEY = "-----BEGIN RSA PRIVATE KEY-----\n" +
  "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=\n".repeat(30) + "-----END RSA PRIVATE KEY-----";
const TOKEN = `eyJhbGciOiJIUzI1NiJ9.eyJ${"abcDEF012".repeat(80)}.c2lnbmF0dXJlLXZhbHVl`;
const PRIVATE: readonly string[] = [
  "anna.b@example.com",
  "+49 171 2345678",
  "(415) 555-0132",
  "4111 1111 1111 1111",
  "DE89 3704 0044 0532 0130 00",
  "078-05-1120",
  "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  "curl -u bob:s3cretpw1 http://x",
  "password = hunter2abc!",
  "postgres://u:p4ssw0rd!@db/x",
  KEY,
  TOKEN,
];
const WORDS =
  'the service answers 502 since noon 10.0.0.1 {"a":1} http://x/y?z=1 日本語のテキスト ok, 12345'
    .split(" ");

describe("masking of private data", () => {
  const mask = (text: string) => openMasker()().mask(text);

  for (const text of PRIVATE) {
    const start = text.slice(0, 24).replace(/\n.*/s, "");
    it(`hides ${start}`, () => {
      assert.match(
        mask(`x: ${text} and`),
        /\[(email|phone|card_number|iban|national_id|secret)-1\]/,
      );
    });
  }

  it("leaves times, addresses, versions and ids as they are", () => {
    const text = "2026-11-23T10:09:18Z 10.0.0.12:5433 v1.2.3 took 0.123 s; pid 7123, job " +
      "0b3e5a12-0012-4123-8123-001234567890, 502 of 12000, sha256 9f2c4b7a01d3e856";
    assert.equal(mask(text), text);
  });

  it("gives the same value the same name, in prompt and answer", () => {
    const create = openMasker();
    assert.equal(create().mask("a@x.org, b@x.org, a@x.org"), "[email-1], [email-2], [email-1]");
    assert.equal(create().mask("b@x.org"), "[email-2]");
  });

  it("masks what comes in pieces exactly as the whole, in 300 random texts", () => {
    let seed = Date.now() % 1e9;
    console.log(`      seed ${seed}`);
    const random = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below;
    const pick = <T>(list: readonly T[]) => list[random(list.length)]!;
    for (let n = 0; n < 300; n++) {
      let text = "";
      for (let left = random(120); left >= 0; left--) {
        text += pick(random(12) === 0 ? PRIVATE : WORDS) + pick([" ", "\n", ", "]);
      }
      const holdBack = openHoldBack(openMasker()());
      let masked = "";
      for (let at = 0; at < text.length;) {
        const end = at + 1 + random(pick([1, 5, 40, 400]));
        masked += holdBack.push(text.slice(at, end));
        at = end;
      }
      assert.equal(masked + holdBack.end(), mask(text));
    }
  });

  it("gives up on a text that it can't tell the end of", () => {
    const holdBack = openHoldBack(openMasker()());
    const endless = () => {
      for (let n = 0; n < 1_000; n++) assert.equal(holdBack.push("QUJDREVGR0hJSktMTU5PUFFS"), "");
    };
    assert.throws(endless, TooLongToCheck);
  });
});

describe("prices of models", () => {
  it("ship for the providers' own servers alone, also for a dated version", () => {
    const price = shippedPrices().anthropic!["claude-haiku-4-5"];
    assert.ok(price);
    assert.equal(findPrice({}, "anthropic", "claude-haiku-4-5-20251001", true), price);
    assert.equal(findPrice({}, "anthropic", "claude-haiku-4-5", false), undefined);
    assert.equal(findPrice({}, "anthropic", "constructor", true), undefined);
  });

  it("are rounded up, with a price of its own for what was cached and for long prompts", () => {
    const price = {
      input: 0.1,
      output: 0.5,
      cached: 0.01,
      above: { tokens: 100, input: 1, output: 2 },
    };
    assert.equal(costOf(price, { input: 11, output: 1, cached: 0 }), 2);
    assert.equal(costOf(price, { input: 100, output: 0, cached: 100 }), 1);
    assert.equal(costOf(price, { input: 101, output: 1, cached: 0 }), 103);
    assert.equal(maxCostOf(price, 101, 1), 103);
    assert.equal(costOf(undefined, { input: 1, output: 1, cached: 0 }), null);
  });
});

describe("the file of budgets for models", () => {
  it("gives a key its own budget, else its tier's, and names what is wrong with its line", () => {
    const policy = readModelPolicy(
      'budgets:\n  tiers: { partner: { usd: 2.5 } }\n  keys: { 0123456789abcdef: { tokens: 7 } }\n  tenants: { "*": { tokens: 9 } }\n',
    );
    const budgets = (keyId: string, tier: "free" | "partner" | "admin") =>
      budgetsOf(policy, { keyId, tier, tenant: "acme" });
    assert.deepEqual(budgets("0123456789abcdef", "partner").key, { tokens: 7, micro: undefined });
    assert.deepEqual(budgets("f", "partner").key, { tokens: undefined, micro: 2_500_000 });
    assert.equal(budgets("f", "free").key.tokens, 0);
    assert.deepEqual(budgets("f", "admin").key, { tokens: undefined, micro: undefined });
    assert.equal(budgets("f", "free").tenant.tokens, 9);
    assert.throws(() => readModelPolicy("budgets:\n  tiers: { gold: {} }\n"), /line 2/);
    assert.throws(() => readModelPolicy("privacy: { default: off }\n"), /line 1/);
  });
});
