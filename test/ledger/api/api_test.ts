import assert from "node:assert/strict";
import { request } from "node:http";
import {
  exportReceipts,
  getPublishedCheckpoint,
  listLedgerKeys,
  verifyChain,
} from "../../../ledger/mod.ts";
import { freePort, testFolder } from "../../_run.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliDecompressSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import pg from "pg";
import { claimDataFolder, startPostgres } from "../../../embedded/mod.ts";
import { migrate, openStore } from "../../../store/mod.ts";
import { serveLedger, startSealing, type TestSealing } from "../_ledger.ts";

/** What everybody may ask, with an id that is there. */
const paths = (id: string) => [
  ...["/api/stats", "/api/receipts", "/api/chain", "/api/health", "/api/how-to-verify"],
  ...["/api/export", `/api/verify/${id}`, `/api/receipt/${id}`, "/checkpoint"],
  ...[`/api/log/inclusion/${id}`, "/api/log/consistency?from=1"],
];

/** Paths of the JSON API, and the fields of their queries. */
const QUERY_FIELDS: Readonly<Record<string, readonly string[]>> = {
  "/api/receipts?limit=3": ["limit", "page"],
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
    ids = await sealing.seal(450);
    while (((await getPublishedCheckpoint(sealing.app))?.size ?? 0) < 450) await sleep(10);
    ledger = await serveLedger(sealing.database);
    const verified = async () => {
      const { verified_through } = await (await get("/api/chain")).json() as Record<string, number>;
      return verified_through;
    };
    while (await verified() !== 449) await sleep(10); // else answers may differ from one to the next
  });
  after(async () => {
    await ledger?.stop();
    await sealing?.stop();
  });
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${ledger.address}${path}`, { headers });

  describe("/api/export as NDJSON", () => {
    const ndjson = { accept: "application/x-ndjson" };
    it("gives every receipt, byte for byte, one a line", async () => {
      const response = await get("/api/export", ndjson);
      assert.equal(response.headers.get("content-type"), "application/x-ndjson");
      assert.equal(response.headers.get("x-ledger-size"), "450");
      const lines = (await response.text()).trimEnd().split("\n");
      const stored = await exportReceipts(sealing.app, { from: 0, to: 450 });
      assert.deepEqual(lines, stored.map(({ text }) => text));
      const { total, breaks } = await verifyChain(lines, await listLedgerKeys(sealing.app));
      assert.deepEqual({ total, breaks }, { total: 450, breaks: [] });
    });
    it("goes on from a position", async () => {
      const text = await (await get("/api/export?from=447&to=449", ndjson)).text();
      const positions = text.trimEnd().split("\n").map((line) => JSON.parse(line).chain_position);
      assert.deepEqual(positions, [447, 448]);
      assert.equal(await (await get("/api/export?from=450", ndjson)).text(), "");
    });
    it("says what is wrong with a range", async () => {
      const response = await get("/api/export?from=-1", ndjson);
      assert.equal(response.status, 422);
      const { detail } = await response.json() as { detail: { loc: string[] }[] };
      assert.deepEqual(detail[0]!.loc, ["query", "from"]);
    });
  });

  describe("answers", () => {
    it("are what its description says", async () => {
      const description = await (await get("/openapi.json")).json() as {
        paths: Record<string, unknown>;
      };
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      ajv.addSchema(description, "description");
      const missing = `/api/verify/${"0".repeat(16)}`;
      for (const path of [...paths(ids[0]!), missing, "/api/anchors", "/api/activity"]) {
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

    it("are not sent again to who has them", async () => {
      for (const path of paths(ids[0]!)) {
        const first = await get(path);
        assert.equal(first.status, 200, path);
        const etag = first.headers.get("etag")!;
        assert.match(etag, /^W\/".+"$/, path);
        assert.equal((await get(path, { "if-none-match": etag })).status, 304, path);
      }
    });
    it("are compressed for who can read that", async () => {
      const plain = await (await get("/api/export", { "accept-encoding": "identity" })).text();
      const { body, encoding } = await raw(`${ledger.address}/api/export`, "br");
      assert.equal(encoding, "br");
      assert.equal(brotliDecompressSync(body).toString(), plain);
      assert.ok(body.length < plain.length / 2);
    });
    it("may be read from pages of anywhere", async () => {
      const response = await get("/api/stats", { origin: "https://elsewhere.example" });
      assert.equal(response.headers.get("access-control-allow-origin"), "*");
    });
    it("that can't change may be kept for ever, and others must be asked for again", async () => {
      const tile = await get("/tile/0/000");
      assert.equal((await tile.arrayBuffer()).byteLength, 256 * 32);
      assert.match(tile.headers.get("cache-control")!, /immutable/);
      assert.match((await get("/checkpoint")).headers.get("cache-control")!, /no-cache/);
    });
  });

  it("gives no tile that no checkpoint covers", async () => {
    for (
      const path of [
        ...["/tile/0/001", "/tile/0/001.p/195", "/tile/1/000", "/tile/1/000.p/2", "/tile/64/000"],
        ...["/tile/00/000", "/tile/0/0", "/tile/0/000.p/0", "/tile/entries/001", "/tile/-1/000"],
      ]
    ) {
      assert.equal((await get(path)).status, 404, path);
    }
    for (const path of ["/tile/0/001.p/194", "/tile/1/000.p/1", "/tile/entries/001.p/7"]) {
      assert.equal((await get(path)).status, 200, path);
    }
  });

  it("counts receipts by category and by day without looking at each", async () => {
    const { rows } = await sealing.app.pool.query("SELECT day, category, n::int FROM ledger_days");
    assert.equal(rows.reduce((sum, { n }) => sum + n, 0), 450);
    assert.ok(rows.every(({ day }) => /^\d{4}-\d\d-\d\d$/.test(day)));
    const stats = await (await get("/api/stats")).json() as Record<string, unknown>;
    assert.deepEqual(stats["provenance_summary"], { test: 450 });
    const { days } = await (await get("/api/activity?days=2")).json() as {
      days: { day: string; receipts: number; categories: unknown }[];
    };
    assert.ok(days.length === 1 || days.length === 2); // midnight may have passed
    assert.equal(days.reduce((sum, { receipts }) => sum + receipts, 0), 450);
    assert.deepEqual(Object.keys(days[0]!.categories as object), ["test"]);
    assert.equal((await get("/api/activity?days=0")).status, 422);
  });

  it("breaks on no input, however odd", async () => {
    const odd = [
      ...["%00", "%F0%9F%92%A9", "..%2f..%2fetc", "' OR 1=1 --", "%", "%zz", "null", "-1", "1e309"],
      ...[
        "a".repeat(129),
        "A".repeat(128),
        "0".repeat(64),
        "%%%%%%%%%",
        "________",
        "\\\\\\\\\\\\\\\\",
      ],
      ...[
        "99999999999999999999",
        "9007199254740993",
        "0x10",
        "1.5",
        "",
        " ",
        "[]",
        "{}",
        "%EF%BB%BF",
      ],
    ];
    const places = [
      ...["/api/verify/$", "/api/receipt/$", "/api/receipts?limit=$", "/api/receipts?page=$"],
      ...["/api/export?from=$", "/api/export?to=$", "/api/log/inclusion/$", "/tile/$/000"],
      ...["/api/log/inclusion/receipt-000001?tree_size=$", "/api/log/consistency?from=$"],
      ...["/api/log/consistency?from=1&to=$", "/tile/0/$", "/tile/entries/$", "/api/$", "/$"],
    ];
    for (const place of places) {
      for (const value of odd) {
        const { status } = await raw(`${ledger.address}${place.replace("$", value)}`);
        assert.ok(status < 500, `${place} with ${value}: ${status}`);
      }
    }
  });
});

describe("a record that was made garbage", () => {
  for (const garbage of ["", "null", "[]", "{", "no JSON", '{"id":1}', "\\xff"]) {
    it(`of ${JSON.stringify(garbage)} is shown as not verified, and stops nothing else`, async () => {
      const sealing = await startSealing();
      const [, id] = await sealing.seal(2);
      const ledger = await serveLedger(sealing.database);
      const client = new pg.Client({ connectionString: sealing.database.superuserUrl });
      try {
        await client.connect();
        await client.query("SET session_replication_role = replica");
        await client.query("UPDATE receipts SET record = $1 WHERE id = $2", [
          Buffer.from(garbage, "latin1"),
          id,
        ]);
        for (const path of [...paths(id!), "/", `/receipt/${id}`]) {
          if (path === "/checkpoint" || path.startsWith("/api/log")) continue;
          const { status } = await fetch(ledger.address + path);
          assert.ok(status < 500, `${path}: ${status}`);
        }
        const { verified } = await (await fetch(`${ledger.address}/api/verify/${id}`))
          .json() as { verified: boolean };
        assert.equal(verified, false);
      } finally {
        await client.end();
        await ledger.stop();
        await sealing.stop();
      }
    });
  }
});

describe("the public ledger while PostgreSQL is away", () => {
  it("says so at every address, and comes back by itself", async () => {
    const folder = await testFolder();
    const [port, tree] = [await freePort(), await claimDataFolder(folder)];
    let server = await startPostgres(folder, port, tree);
    const owner = openStore(server.urls.owner, "owner");
    await migrate(owner);
    await owner.close();
    const ledger = await serveLedger(server);
    const status = async (path: string) => (await fetch(`${ledger.address}${path}`)).status;
    try {
      while (await status("/api/stats") !== 200) await sleep(10);
      await server.stop();
      while (await status("/api/stats") !== 503) await sleep(50);
      for (const path of paths("receipt-000001")) {
        const response = await fetch(`${ledger.address}${path}`);
        assert.equal(response.status, 503, path);
        const body = await response.json() as Record<string, unknown>;
        if (path.startsWith("/api/")) assert.equal(body["chain_intact"], null, path);
      }
      for (const path of ["/", "/receipt/receipt-000001", "/find?q=receipt-000001"]) {
        const page = await fetch(`${ledger.address}${path}`);
        assert.equal(page.status, 503, path);
        const text = await page.text();
        assert.match(text, /The ledger is unavailable/);
        assert.doesNotMatch(text, /\bintact\b/i);
      }
      server = await startPostgres(folder, port, tree);
      while (await status("/api/stats") !== 200) await sleep(50);
    } finally {
      await ledger.stop();
      await server.stop();
      await tree.stop();
      await tree.release();
    }
  });
});

/** Asks with the path as it is, and gives the bytes as they came. */
function raw(url: string, encoding = "identity") {
  const [, host, port, path] = /^http:\/\/([^:]+):(\d+)(.*)$/s.exec(url)!;
  type Answer = { status: number; encoding: string | undefined; body: Buffer };
  return new Promise<Answer>((resolve, reject) => {
    const asked = request({
      ...{ host, port, path: path!.replaceAll(/[ \\]/g, encodeURIComponent) },
      headers: { "accept-encoding": encoding },
    }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const { statusCode: status = 0, headers } = response;
      resolve({ status, encoding: headers["content-encoding"], body: Buffer.concat(chunks) });
    });
    asked.once("error", reject).end();
  });
}
