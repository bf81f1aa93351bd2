import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { ROOT } from "../../../config.ts";
import {
  getHead,
  getPublishedCheckpoint,
  importLedger,
  openLedgerUrl,
  selectTrustedKeys,
  verifyInParallel,
} from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { testFolder } from "../../_run.ts";
import { eventually } from "../../_time.ts";
import { mixedChain, vectorKeys } from "../../ledger/_chains.ts";
import { prepareSealing, serveLedger, type TestSealing } from "../../ledger/_ledger.ts";
import { verify } from "./_verify.ts";

const VECTOR = join(ROOT, "test", "vectors", "mixed-era-chain.json");
const { records } = mixedChain;
const run = promisify(execFile);

describe("npm run verify", () => {
  describe("of an address", () => {
    let ledger: TestSealing;
    let served: Awaited<ReturnType<typeof serveLedger>>;
    let folder: string;
    before(async () => {
      folder = await testFolder();
      ledger = await prepareSealing();
      const store = openStore(ledger.database.urls.sequencer, "sequencer");
      await importLedger(store, VECTOR);
      await store.close();
      ledger.go();
      await ledger.seal(4);
      await eventually(async () =>
        (await getPublishedCheckpoint(ledger.app))?.size === 56 || undefined
      );
      served = await serveLedger(ledger.database);
    });
    after(async () => {
      await served.stop();
      await ledger.stop();
    });

    it("agrees with the verifier in Python, whose command on the page works as it is printed", async () => {
      const page = await (await fetch(`${served.address}/`)).text();
      const [, printed] = /<code>(curl -s [^<]*verify_ledger\.py[^<]*)<\/code>/.exec(page)!;
      const command = printed!.replaceAll("&#39;", "'").replaceAll("&quot;", '"')
        .replaceAll("&gt;", ">").replaceAll("http://127.0.0.1:0", served.address);
      const cwd = await testFolder();
      const first = await run("bash", ["-c", command], { cwd });
      assert.match(first.stdout, /^56 receipts, 0 problems/m);
      assert.match(first.stdout, /^wrote sealoop\.trust\.json: compare its keys/m);
      const pins = join(folder, "pinned-by-node.json");
      assert.equal((await verify(served.address, "--pin", pins)).status, 0);
      const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));
      assert.deepEqual(read(join(cwd, "sealoop.trust.json")), read(pins));
      const python = (...args: string[]) => run("python3", ["verify_ledger.py", ...args], { cwd });
      await assert.rejects(
        python(served.address, "--pin", "sealoop.trust.json"),
        /exists already; give it as TRUST_FILE/,
      );
      const again = await python(served.address, "sealoop.trust.json");
      assert.match(again.stdout, /^56 receipts, 0 problems, checkpoint of 56/m);
      assert.match((await python("--help")).stdout, /--pin NEW_FILE/);
    });

    it("pins what a ledger shows, and remembers its newest checkpoint", async () => {
      const pins = join(folder, "pinned.trust.json");
      const pinned = await verify(served.address, "--pin", pins);
      assert.equal(pinned.status, 0, pinned.out + pinned.err);
      const before = JSON.parse(readFileSync(pins, "utf8"));
      assert.equal(before.min_era, 1);
      assert.equal(before.ledger_keys.length, 2);
      const again = await verify(served.address, "--pin", pins);
      assert.match(again.err, /exists already/);
      const { size: total } = await getHead(ledger.app);
      await ledger.seal(1);
      await eventually(async () =>
        ((await getPublishedCheckpoint(ledger.app))?.size ?? 0) > total || undefined
      );
      const remembered = await verify(served.address, "--trust", pins, "--remember");
      assert.equal(remembered.status, 0, remembered.out + remembered.err);
      const { checkpoint, ...rest } = JSON.parse(readFileSync(pins, "utf8"));
      assert.equal(Number(checkpoint.split("\n")[1]), total + 1);
      assert.deepEqual({ ...rest, checkpoint: before.checkpoint }, before);
      const signed = join(folder, "signed.trust.json");
      writeFileSync(signed, JSON.stringify({ ...rest, min_era: 2, checkpoint }));
      const unsigned = await verify(served.address, "--trust", signed);
      assert.match(unsigned.out, /^the ledger: 5 receipts are of an era before 2/m);
      assert.equal(unsigned.status, 1);
      assert.equal((await verify(served.address, "--trust", signed, "--allow-unsigned")).status, 0);
    });

    it("verifies a ledger of three eras and two keys, and finds what a superuser changed", async () => {
      const good = await verify(served.address);
      assert.match(
        good.out,
        /^57 receipts \(5 of era 1, 6 of era 2, 46 of era 3\), 0 problems, checkpoint of 5\d$/m,
      );
      assert.equal(good.status, 0);
      const client = new pg.Client(ledger.database.superuserUrl);
      await client.connect();
      await client.query("SET session_replication_role = replica");
      await client.query(
        `UPDATE receipts SET original = convert_to(regexp_replace(convert_from(original, 'UTF8'),
           '"action":"[^"]*"', '"action":"none"'), 'UTF8') WHERE position = 20`,
      );
      await client.query("UPDATE receipts SET signature = sha512(signature) WHERE position = 53");
      await client.end();
      const bad = await verify(served.address);
      assert.equal(bad.status, 1);
      const [record, signature, checkpoint] = bad.out.match(/^position \d+.*/gm)!;
      assert.match(record!, /^position 20: /);
      assert.match(signature!, /^position 53: /);
      assert.match(checkpoint!, /^position 5\d: Up to here it is not what the checkpoint/);
    });

    it("names one that is missing there once, and reads none twice", async () => {
      const client = new pg.Client(ledger.database.superuserUrl);
      await client.connect();
      await client.query("SET session_replication_role = replica");
      await client.query("DELETE FROM receipts WHERE position = 30");
      await client.end();
      const { status, out } = await verify(served.address);
      assert.equal(status, 1);
      assert.deepEqual(
        out.match(/^position \d+: \w+/gm),
        ["position 20: The", "position 30: Missing", "position 53: The"],
      );
      assert.match(out, /^56 receipts .*, 3 problems, checkpoint of 5\d \(not compared, as/m);
    });
  });

  describe("of an address that has its ways", () => {
    const running: Server[] = [];
    after(() => running.forEach((server) => server.close()));

    /** Serves the vectors in a way of its own. */
    async function serve(
      exported: (from: number, response: ServerResponse) => void,
    ): Promise<string> {
      const server = createServer((request, response) => {
        const url = new URL(request.url!, "http://x");
        if (url.pathname === "/api/how-to-verify") {
          const keys = [{ public_key: vectorKeys[0]!.publicKey, from_position: 0 }];
          return void response.end(JSON.stringify({ keys }));
        }
        exported(Number(url.searchParams.get("from")), response);
      });
      running.push(server);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    }

    async function verdictOf(url: string) {
      const remote = await openLedgerUrl(url);
      const keys = selectTrustedKeys(remote.named, []);
      const verdict = await verifyInParallel(remote.batches(), keys, { threads: 1 });
      return { ...verdict, promised: remote.total() };
    }

    it("goes on where a stream was cut off, in the middle of a receipt too", async () => {
      let cuts = 0;
      const url = await serve((from, response) => {
        response.setHeader("x-ledger-size", records.length);
        const rest = `${records.slice(from).join("\n")}\n`;
        if (from >= 45) return void response.end(rest);
        cuts++;
        response.write(`${rest.slice(0, 20_000)}`, () => response.destroy());
      });
      const { total, breaks } = await verdictOf(url);
      assert.deepEqual({ total, breaks }, { total: records.length, breaks: 0 });
      assert.ok(cuts > 2);
    });

    it("reads a ledger that gives pages alone", async () => {
      const url = await serve((from, response) => {
        const page = records.slice(from, from + 20);
        response.end(`{"total":${records.length},"receipts":[${page.join(",")}]}`);
      });
      assert.deepEqual((await verdictOf(url)).total, records.length);
    });

    it("tells of a ledger that has fewer receipts than it says", async () => {
      const url = await serve((from, response) => {
        const page = records.slice(from, 30);
        response.end(`{"total":${records.length},"receipts":[${page.join(",")}]}`);
      });
      const { total, promised } = await verdictOf(url);
      assert.deepEqual({ total, promised }, { total: 30, promised: records.length });
      const { status, out } = await verify(url);
      assert.equal(status, 1);
      assert.match(out, /^position 30: Missing: there should be 51 receipts$/m);
    });

    it("tells of pages that say another count than they have", async () => {
      const url = await serve((from, response) => {
        const page = records.slice(from, from + 20);
        response.end(`{"total":${records.length},"count":20,"receipts":[${page.join(",")}]}`);
      });
      const { status, out } = await verify(url);
      assert.equal(status, 1);
      assert.match(out, /^the ledger: It says that it has 20 receipts, and has 11$/m);
    });

    it("gives up on one that only ever fails", async () => {
      const url = await serve((_, response) => void response.writeHead(503).end());
      await assert.rejects(verdictOf(url), { name: "LedgerUnreachable", message: /status 503/ });
    });

    it("gives up on one that speaks of something else", async () => {
      const url = await serve((_, response) => void response.end("<html>not found</html>"));
      await assert.rejects(verdictOf(url), { name: "LedgerUnreachable" });
    });
  });
});
