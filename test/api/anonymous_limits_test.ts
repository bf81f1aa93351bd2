import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { asSuperuser } from "../_superuser.ts";
import { ensureSecondsLeftInDay } from "../_time.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

const BASE = {
  SEALOOP_TRUSTED_HOPS: "1",
  SEALOOP_LIMIT_FREE: "1000000",
  SEALOOP_LIMIT_ANONYMOUS_RECEIPTS: "1000000",
  SEALOOP_LIMIT_ANONYMOUS_BYTES: "1000000000",
};
/** A receipt's flat share of the bytes. */
const ANSWER_BYTES = 16 * 1024;

describe("callers without a key", () => {
  const gateways: TestGateway[] = [];
  after(() => Promise.all(gateways.map((gateway) => gateway.stop())));
  beforeEach(() => ensureSecondsLeftInDay(60)); // the limits are of a day

  async function start(settings: Readonly<Record<string, string>>): Promise<TestGateway> {
    const gateway = await startGateway({ settings: { ...BASE, ...settings } });
    gateways.push(gateway);
    return gateway;
  }

  /** Has a text judged and sealed. The engine is away, which is sealed like a verdict. */
  async function seal(
    { url }: TestGateway,
    address: string,
    { key, incident = "web: 502" }: { key?: string; incident?: string } = {},
  ): Promise<{ status: number; detail: string; retryAfter: number }> {
    const response = await fetch(`${url}/v1/validate`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-forwarded-for": address,
        ...(key ? { "x-api-key": key } : {}),
      },
      body: JSON.stringify({ incident }),
    });
    const { detail = "" } = await response.json() as { detail?: string };
    return {
      status: response.status,
      detail,
      retryAfter: Number(response.headers.get("retry-after")),
    };
  }

  const times = async <T>(n: number, work: (n: number) => Promise<T>): Promise<T[]> => {
    const results: T[] = [];
    for (let i = 0; i < n; i++) results.push(await work(i));
    return results;
  };

  async function stored({ platform }: TestGateway): Promise<{ receipts: number; bytes: number }> {
    return (await asSuperuser(platform.store).first(
      `SELECT (SELECT count(*)::int FROM seal_outbox) AS receipts,
         (SELECT coalesce(sum(length(payload)), 0)::int FROM seal_outbox) +
         (SELECT coalesce(sum(length(content)), 0)::int FROM evidence) AS bytes`,
    ))!;
  }

  it("have as many receipts sealed a day as the limit of their address says; keys have their own", async () => {
    const gateway = await start({ SEALOOP_LIMIT_ANONYMOUS_RECEIPTS: "3" });
    const first = await times(5, () => seal(gateway, "198.51.100.1"));
    assert.deepEqual(first.map(({ status }) => status), [503, 503, 503, 429, 429]);
    assert.match(
      first[3]!.detail,
      /^Your address has used up the sealed requests of this day \(3\); ask your operator for a key/,
    );
    assert.ok(first[3]!.retryAfter > 0);
    assert.equal((await stored(gateway)).receipts, 3);
    assert.equal((await seal(gateway, "198.51.100.2")).status, 503, "another address");
    const key = await gateway.key();
    assert.equal((await seal(gateway, "198.51.100.1", { key })).status, 503, "a key");
  });

  it("share the limit within a /64 of IPv6, however many addresses they use", async () => {
    const gateway = await start({ SEALOOP_LIMIT_ANONYMOUS_RECEIPTS: "3" });
    const from = (network: string) => `${network}:${randomBytes(2).toString("hex")}::1`;
    const answers = await times(20, () => seal(gateway, from("2001:db8:0:1:ffff")));
    assert.equal(answers.filter(({ status }) => status === 429).length, 17);
    assert.equal((await seal(gateway, from("2001:db8:0:2:ffff"))).status, 503);
  });

  it("have no more bytes stored than the limit of their address says", async () => {
    const limit = 200_000;
    const gateway = await start({ SEALOOP_LIMIT_ANONYMOUS_BYTES: String(limit) });
    const incident = '"\\\u0001'.repeat(3_000); // grows most as JSON within JSON
    const answers = await times(12, () => seal(gateway, "198.51.100.1", { incident }));
    assert.equal(answers.at(-1)!.status, 429);
    assert.match(answers.at(-1)!.detail, /used up the bytes of sealed requests of this day/);
    const { receipts, bytes } = await stored(gateway);
    assert.ok(receipts > 0 && bytes <= limit, `${receipts} receipts of ${bytes} bytes`);
    assert.equal((await seal(gateway, "198.51.100.1")).status, 503, "a small one still fits");
  });

  it("have no more sealed together than the platform takes, from however many addresses", async () => {
    const gateway = await start({ SEALOOP_LIMIT_ALL_ANONYMOUS_RECEIPTS: "5" });
    const answers = await times(8, (n) => seal(gateway, `198.51.100.${n}`));
    assert.deepEqual(answers.map(({ status }) => status === 429), [
      ...Array(5).fill(false),
      ...Array(3).fill(true),
    ]);
    assert.match(answers.at(-1)!.detail, /^All callers without a key together have used up/);
    assert.equal((await stored(gateway)).receipts, 5);
    const bytes = await start({
      SEALOOP_LIMIT_ALL_ANONYMOUS_BYTES: String(2 * (ANSWER_BYTES + 200)),
    });
    const statuses = (await times(4, (n) => seal(bytes, `198.51.100.${n}`))).map((a) => a.status);
    assert.deepEqual(statuses, [503, 503, 429, 429]);
  });

  it("ask no more together than the limit says, and leave no more rows behind", async () => {
    const gateway = await start({ SEALOOP_LIMIT_ALL_ANONYMOUS: "10" });
    const ask = (n: number) =>
      fetch(`${gateway.url}/v1/itsm/mttr`, { headers: { "x-forwarded-for": `203.0.113.${n}` } });
    const statuses = (await times(60, ask)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 429).length, 50);
    const row = await asSuperuser(gateway.platform.store).first<{ n: number }>(
      "SELECT count(*)::int AS n FROM usage",
    );
    assert.ok(row!.n <= 12, `${row!.n} rows`);
    const { status } = await fetch(`${gateway.url}/v1/itsm/mttr`, {
      headers: { "x-forwarded-for": "203.0.113.1", "x-api-key": await gateway.key() },
    });
    assert.equal(status, 200, "a key");
  });

  it("use up no receipts by calls that another limit refuses", async () => {
    const gateway = await start({
      SEALOOP_LIMIT_CLASSIFY_FREE: "2",
      SEALOOP_LIMIT_ALL_ANONYMOUS_RECEIPTS: "5",
    });
    const classify = async () => {
      const { status } = await fetch(`${gateway.url}/v1/classify`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-forwarded-for": "198.51.100.1" },
        body: JSON.stringify({ description: "The printer on floor 3 jams" }),
      });
      return status;
    };
    const refused = (await times(20, classify)).filter((status) => status === 429);
    assert.equal(refused.length, 18);
    const others = await times(4, () => seal(gateway, "198.51.100.2"));
    assert.deepEqual(others.map(({ status }) => status), [503, 503, 503, 429]);
  });

  it("one address can't use up what all of them have", async () => {
    const gateway = await start({
      SEALOOP_LIMIT_ANONYMOUS_RECEIPTS: "2",
      SEALOOP_LIMIT_ALL_ANONYMOUS_RECEIPTS: "5",
    });
    await times(20, () => seal(gateway, "198.51.100.1"));
    assert.equal((await seal(gateway, "198.51.100.2")).status, 503);
  });
});
