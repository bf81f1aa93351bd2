import assert from "node:assert/strict";
import { brotliDecompressSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import { exportReceipts, listLedgerKeys, verifyChain } from "../../../ledger/mod.ts";
import { eventually } from "../../_time.ts";
import { serveLedger, startSealing, type TestSealing } from "../_ledger.ts";
import { getRaw, publicPaths } from "./_requests.ts";

/** Paths of the JSON API, and the fields of their queries. */
const QUERY_FIELDS: Readonly<Record<string, readonly string[]>> = {
  "/api/receipts?limit=3": [
    "limit",
    "page",
    "before",
    "about",
    "category",
    "kind",
    "day",
    "file_sha256",
  ],
  "/api/activity": ["days"],
  "/api/export": ["from", "to"],
  "/api/log/consistency?from=1": ["from", "to"],
  "/api/stats": [],
  "/api/chain": [],
  "/api/verify/receipt-000000": [],
  "/api/receipt/receipt-000000.bin": [],
};

describe("the public ledger", () => {
  let sealing: TestSealing;
  let ledger: Awaited<ReturnType<typeof serveLedger>>;
  let ids: string[];
  before(async () => {
    sealing = await startSealing();
    ids = await sealing.seal(449); // and the genesis
    await sealing.untilPublished(450);
    ledger = await serveLedger(sealing.database);
    const verified = async () => {
      const { verified_through } = await (await get("/api/chain")).json() as Record<string, number>;
      return verified_through === 449;
    };
    await eventually(verified); // until then responses may differ
  });
  after(async () => {
    await ledger?.stop();
    await sealing?.stop();
  });
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${ledger.address}${path}`, { headers });

  describe("/api/export as NDJSON", () => {
    const ndjson = { accept: "application/x-ndjson" };
    it("returns every receipt byte for byte, one per line", async () => {
      const response = await get("/api/export", ndjson);
      assert.equal(response.headers.get("content-type"), "application/x-ndjson");
      assert.equal(response.headers.get("x-ledger-size"), "450");
      const lines = (await response.text()).trimEnd().split("\n");
      const stored = await exportReceipts(sealing.app, { from: 0, to: 450 });
      assert.deepEqual(lines, stored.map(({ text }) => text));
      const { total, breaks } = await verifyChain(lines, await listLedgerKeys(sealing.app));
      assert.deepEqual({ total, breaks }, { total: 450, breaks: [] });
    });
    it("continues at a position", async () => {
      const text = await (await get("/api/export?from=447&to=449", ndjson)).text();
      const positions = text.trimEnd().split("\n").map((line) => JSON.parse(line).chain_position);
      assert.deepEqual(positions, [447, 448]);
      assert.equal(await (await get("/api/export?from=450", ndjson)).text(), "");
    });
    it("names the wrong field of a range", async () => {
      const response = await get("/api/export?from=-1", ndjson);
      assert.equal(response.status, 422);
      const { detail } = await response.json() as { detail: { loc: string[] }[] };
      assert.deepEqual(detail[0]!.loc, ["query", "from"]);
    });
  });

  describe("responses", () => {
    it("match the OpenAPI description", async () => {
      const description = await (await get("/openapi.json")).json() as {
        paths: Record<string, unknown>;
      };
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      ajv.addSchema(description, "description");
      const missing = `/api/verify/${"0".repeat(16)}`;
      for (const path of [...publicPaths(ids[0]!), missing, "/api/anchors", "/api/activity"]) {
        const answer = await get(path);
        if (!answer.headers.get("content-type")?.includes("json")) continue;
        const bare = path.split("?")[0]!;
        const template = Object.keys(description.paths).find((known) =>
          new RegExp(`^${known.replace(/\{\w+\}/g, "[^/]+")}$`).test(bare)
        )!;
        const steps = ["paths", template, "get", "responses", "200", "content", "application/json"]
          .map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1")));
        const fits = ajv.compile({ $ref: `description#/${steps.join("/")}/schema` });
        assert.ok(fits(await answer.json()), `${path}: ${ajv.errorsText(fits.errors)}`);
      }
    });
    it("refuse unknown fields of a query with 422", async () => {
      for (const [path, names] of Object.entries(QUERY_FIELDS)) {
        const response = await get(path.includes("?") ? `${path}&nope=1` : `${path}?nope=1`);
        assert.equal(response.status, 422, path);
        const { detail } = await response.json() as { detail: { loc: string[]; msg: string }[] };
        assert.deepEqual(detail[0]!.loc, ["query", "nope"], path);
        for (const name of names) assert.ok(detail[0]!.msg.includes(name), detail[0]!.msg);
      }
    });

    it("of pages ignore unknown fields, as shared links get tags appended", async () => {
      for (const path of ["/", `/receipt/${ids[0]}`, "/at/0", `/find?q=${ids[0]}`]) {
        const tagged = `${path}${path.includes("?") ? "&" : "?"}utm_source=elsewhere`;
        assert.equal((await get(tagged)).status, 200, tagged);
      }
    });

    it("are not sent again to clients that have them", async () => {
      for (const path of publicPaths(ids[0]!)) {
        const first = await get(path);
        assert.equal(first.status, 200, path);
        const etag = first.headers.get("etag")!;
        assert.match(etag, /^W\/".+"$/, path);
        assert.equal((await get(path, { "if-none-match": etag })).status, 304, path);
      }
    });
    it("are compressed for clients that accept it", async () => {
      const plain = await (await get("/api/export", { "accept-encoding": "identity" })).text();
      const { body, encoding } = await getRaw(`${ledger.address}/api/export`, "br");
      assert.equal(encoding, "br");
      assert.equal(brotliDecompressSync(body).toString(), plain);
      assert.ok(body.length < plain.length / 2);
    });
    it("can be read by pages of other origins", async () => {
      const response = await get("/api/stats", { origin: "https://elsewhere.example" });
      assert.equal(response.headers.get("access-control-allow-origin"), "*");
    });
    it("that never change are immutable to caches, and others are revalidated", async () => {
      const tile = await get("/tile/0/000");
      assert.equal((await tile.arrayBuffer()).byteLength, 256 * 32);
      assert.match(tile.headers.get("cache-control")!, /immutable/);
      assert.match((await get("/checkpoint")).headers.get("cache-control")!, /no-cache/);
    });
  });

  it("has no tile beyond the checkpoint", async () => {
    for (
      const path of [
        "/tile/0/001",
        "/tile/0/001.p/195",
        "/tile/1/000",
        "/tile/1/000.p/2",
        "/tile/64/000",
        "/tile/00/000",
        "/tile/0/0",
        "/tile/0/000.p/0",
        "/tile/entries/001",
        "/tile/-1/000",
      ]
    ) {
      assert.equal((await get(path)).status, 404, path);
    }
    for (const path of ["/tile/0/001.p/194", "/tile/1/000.p/1", "/tile/entries/001.p/7"]) {
      assert.equal((await get(path)).status, 200, path);
    }
  });

  it("counts receipts by category and by day", async () => {
    const { rows } = await sealing.app.pool.query("SELECT day, category, n::int FROM ledger_days");
    assert.equal(rows.reduce((sum, { n }) => sum + n, 0), 450);
    assert.ok(rows.every(({ day }) => /^\d{4}-\d\d-\d\d$/.test(day)));
    const stats = await (await get("/api/stats")).json() as Record<string, unknown>;
    assert.deepEqual(stats["provenance_summary"], { test: 449, ledger_genesis: 1 });
    const { days } = await (await get("/api/activity?days=2")).json() as {
      days: { day: string; receipts: number; categories: unknown }[];
    };
    assert.ok(days.length === 1 || days.length === 2); // midnight may have passed
    assert.equal(days.reduce((sum, { receipts }) => sum + receipts, 0), 450);
    assert.ok("test" in (days.at(-1)!.categories as object));
    assert.equal((await get("/api/activity?days=0")).status, 422);
  });

  it("answers every malformed input with a status below 500", async () => {
    const values = [
      "%00",
      "%F0%9F%92%A9",
      "..%2f..%2fetc",
      "' OR 1=1 --",
      "%",
      "%zz",
      "null",
      "-1",
      "1e309",
      "a".repeat(129),
      "A".repeat(128),
      "0".repeat(64),
      "%%%%%%%%%",
      "________",
      "\\\\\\\\\\\\\\\\",
      "99999999999999999999",
      "9007199254740993",
      "0x10",
      "1.5",
      "",
      " ",
      "[]",
      "{}",
      "%EF%BB%BF",
    ];
    const places = [
      "/api/verify/$",
      "/api/receipt/$",
      "/api/receipts?limit=$",
      "/api/receipts?page=$",
      "/api/export?from=$",
      "/api/export?to=$",
      "/api/log/inclusion/$",
      "/tile/$/000",
      "/api/log/inclusion/receipt-000001?tree_size=$",
      "/api/log/consistency?from=$",
      "/api/log/consistency?from=1&to=$",
      "/tile/0/$",
      "/tile/entries/$",
      "/api/$",
      "/$",
    ];
    for (const place of places) {
      for (const value of values) {
        const { status } = await getRaw(`${ledger.address}${place.replace("$", value)}`);
        assert.ok(status < 500, `${place} with ${value}: ${status}`);
      }
    }
  });

  describe("/api/receipts by a file, at the end, as it seals more", () => {
    it("finds the receipts of a published file by its SHA-256, the platform's own first", async () => {
      const [sha256, other] = ["a", "b"].map((digit) => digit.repeat(64)) as [string, string];
      const seal = async (id: string, category: string, file_sha256: unknown) => {
        const fields = {
          id,
          category,
          actor: "a",
          subject: "s",
          action: "publish",
          outcome: "done",
        };
        await sealing.sealer.request({ ...fields, details: { file_sha256 } });
        await sealing.sealer.sealed(id);
      };
      await seal("claim-of-caller", "api_seal", sha256);
      await seal("long-claim", "api_seal", sha256.repeat(1_000));
      await seal("no-text", "api_seal", { nested: sha256 });
      await seal("published-file", "test", sha256);
      const find = async (hash: string) => {
        const response = await get(`/api/receipts?file_sha256=${hash}`);
        const { total, receipts } = await response.json() as {
          total: number;
          receipts: { receipt_id: string }[];
        };
        return [total, ...receipts.map(({ receipt_id }) => receipt_id)];
      };
      assert.deepEqual(await find(sha256), [2, "published-file", "claim-of-caller"]);
      assert.deepEqual(await find(other), [0]);
      assert.equal((await get("/api/receipts?file_sha256=abc")).status, 422);
    });
  });
});
