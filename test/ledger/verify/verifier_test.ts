import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { ROOT } from "../../../config.ts";
import { formatVerifierKey, getPublishedCheckpoint } from "../../../ledger/log/mod.ts";
import { canonicalizeFields, joinFields } from "../../../ledger/rules/mod.ts";
import { findPython } from "../../_python.ts";
import { testFolder } from "../../_run.ts";
import { faultyChains, mixedChain, type VectorChain, vectorKeys } from "../_chains.ts";
import { serveLedger, startSealing, type TestSealing } from "../_ledger.ts";

describe("the published verifier in Python", () => {
  let python: string;
  let script: string;
  let sealing: TestSealing;
  let ledger: Awaited<ReturnType<typeof serveLedger>>;

  before(async function () {
    const found = await findPython("cryptography", "cryptography");
    if ("missing" in found) {
      console.log(`    not run: ${found.missing}`);
      return this.skip();
    }
    python = found.program;
    sealing = await startSealing();
    await sealing.seal(299); // and the genesis
    await sealing.untilPublished(300);
    ledger = await serveLedger(sealing.database);
    // The test runs the program that the ledger itself publishes.
    const rules = await (await fetch(`${ledger.address}/api/how-to-verify`)).json() as {
      reference_verifier: { source: string };
    };
    script = join(await testFolder(), "verify_ledger.py");
    await writeFile(script, rules.reference_verifier.source);
  });
  after(async () => {
    await ledger?.stop();
    await sealing?.stop();
  });

  function verify(...args: string[]): Promise<{ status: number | string; lines: string[] }> {
    return new Promise((resolve) => {
      const env = { ...process.env, LC_ALL: "C" }; // it prints errors of the operating system
      execFile(python, [script, ...args], { env }, (error, stdout, stderr) => {
        const lines = (stdout + stderr).trim().split("\n");
        resolve({ status: error?.code ?? 0, lines });
      });
    });
  }
  async function verifyText(text: string, ...args: string[]) {
    const path = join(await testFolder(), "export");
    await writeFile(path, text);
    return await verify(path, ...args);
  }
  const STRANGER = Buffer.alloc(32, 7);
  const pin = (key: Buffer) => [{ public_key: key.toString("hex"), from_position: 0 }];
  async function trustFile(fields: Readonly<Record<string, unknown>>): Promise<string> {
    const path = join(await testFolder(), "sealoop.trust.json");
    await writeFile(path, JSON.stringify(fields));
    return path;
  }
  async function verifyFile({ records }: VectorChain) {
    const key = JSON.stringify(vectorKeys[0]!.publicKey);
    return await verifyText(`{"public_key":${key},"receipts":[${records.join()}]}`);
  }

  it("accepts a live ledger with its checkpoint", async () => {
    assert.deepEqual(await verify(ledger.address), {
      status: 0,
      lines: ["300 receipts, 0 problems, checkpoint of 300"],
    });
  });
  it("accepts all three eras in one chain", async () => {
    assert.deepEqual(await verifyFile(mixedChain), {
      status: 0,
      lines: [`${mixedChain.records.length} receipts, 0 problems`],
    });
  });
  it("accepts the ledger's stream, one receipt a line, with a trust file", async () => {
    const url = `${ledger.address}/api/export`;
    const stream = await fetch(url, { headers: { accept: "application/x-ndjson" } });
    const text = await stream.text();
    const { rows: [row] } = await sealing.app.pool.query("SELECT public_key FROM ledger_keys");
    const trust = await trustFile({ ledger_keys: pin(row.public_key) });
    const holds = { status: 0, lines: ["300 receipts, 0 problems"] };
    assert.deepEqual(await verifyText(text, trust), holds);
    const { status, lines } = await verifyText(text.replace('"ok"', '"no"'), trust);
    assert.equal(status, 1);
    assert.equal(lines[0], "position 1: the stored fields do not give the canonical bytes");
    assert.deepEqual(await verifyText(text), holds); // by the keys that its receipts introduce
    const keyless = await verifyText(mixedChain.records.join("\n"));
    assert.equal(keyless.status, 2);
    assert.match(keyless.lines[0]!, /^Cannot verify: .* signed: give a TRUST_FILE$/);
  });
  it("does not accept a page of a longer chain as all of it", async () => {
    const page = async (query: string) =>
      await verifyText(await (await fetch(`${ledger.address}/api/export?${query}`)).text(), key);
    const { rows: [row] } = await sealing.app.pool.query("SELECT public_key FROM ledger_keys");
    const key = await trustFile({ ledger_keys: pin(row.public_key) });
    const { status, lines } = await page("from=0&to=100");
    assert.equal(status, 1);
    assert.equal(lines[0], "position 100: the end is missing, as there should be 300 receipts");
    const middle = await page("from=100&to=200");
    assert.deepEqual([middle.status, middle.lines.length], [2, 1]);
    assert.match(middle.lines[0]!, /it begins at position 100, and not with the first receipt$/);
  });
  it("reports in one line what it can't read, and exits with 2", async () => {
    const folder = await testFolder();
    const text = join(folder, "text");
    await writeFile(text, "<html>\n");
    const cut = join(folder, "cut");
    await writeFile(cut, `${mixedChain.records[0]}\n${mixedChain.records[1]!.slice(0, 99)}`);
    const other = createServer((_, response) => void response.writeHead(404).end());
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const wrong = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const cases: [source: string, message: RegExp][] = [
      [text, /it is neither JSON nor one receipt a line$/],
      [cut, /it is neither JSON nor one receipt a line$/],
      [join(folder, "nowhere"), /No such file or directory$/],
      [folder, /Is a directory$/],
      [join(ROOT, "package.json"), /there are no receipts in it$/],
      [wrong, /answers with status 404: is that the ledger's address\?$/],
      ["http://127.0.0.1:1", /Connection refused$/],
      [`${ledger.address}/api/health`, /answers with status 404/],
    ];
    try {
      for (const [source, message] of cases) {
        const { status, lines } = await verify(source);
        assert.deepEqual([status, lines.length], [2, 1], lines.join("\n"));
        assert.match(lines[0]!, /^Cannot verify: /);
        assert.match(lines[0]!, message);
      }
    } finally {
      other.close();
    }
  });
  it("finds a receipt that lost its schema_version or its signature", async () => {
    for (
      const [lost, message] of [
        ["schema_version", /^position 40: it is of an older era than the entry before/],
        ["signature", /^position 40: a field that its schema_version needs is missing/],
      ] as const
    ) {
      const fields = new Map(canonicalizeFields(mixedChain.records[40]!));
      fields.delete(lost);
      const records = mixedChain.records.with(40, joinFields(fields));
      const { status, lines } = await verifyFile({ ...mixedChain, records });
      assert.equal(status, 1);
      assert.ok(lines.some((line) => message.test(line)), lines.join("\n"));
    }
  });
  it("reports missing receipts once, and goes on at the next one's position", async () => {
    const { records } = mixedChain;
    const broken = (...lines: string[]) => ({ status: 1, lines });
    assert.deepEqual(
      await verifyFile({ ...mixedChain, records: records.toSpliced(20, 3) }),
      broken("position 20: missing, with all up to 22", "48 receipts, 1 problem"),
    );
    const fields = new Map(canonicalizeFields(records[30]!)).set("chain_position", "45");
    const forged = records.with(30, joinFields(fields)).toSpliced(20, 1);
    assert.deepEqual(
      await verifyFile({ ...mixedChain, records: forged }),
      broken(
        "position 20: missing",
        "position 30: the stored fields do not give the canonical bytes",
        "position 30: chain_position is not the entry's place",
        "50 receipts, 3 problems",
      ),
    );
  });
  for (const chain of faultyChains) {
    it(`reports ${chain.name} at position ${chain.breaksAt}`, async () => {
      const { status, lines } = await verifyFile(chain);
      assert.equal(status, 1);
      assert.match(lines[0]!, new RegExp(`^position ${chain.breaksAt}: `));
    });
  }
  it("trusts the keys that it is given, and no others", async () => {
    const { rows: [row] } = await sealing.app.pool.query("SELECT public_key FROM ledger_keys");
    const right = pin(row.public_key);
    const { verifierKey } = (await getPublishedCheckpoint(sealing.app))!;
    const trust = await trustFile({ ledger_keys: right, log_key: verifierKey });
    assert.equal((await verify(ledger.address, trust)).status, 0);
    const wrong = await verify(ledger.address, await trustFile({ ledger_keys: pin(STRANGER) }));
    assert.equal(wrong.status, 1);
    assert.match(wrong.lines[0]!, /^position 0: signed by another key than the one trusted/);
    const other = await trustFile({
      ledger_keys: right,
      log_key: formatVerifierKey({ name: "sealoop.localhost", publicKey: STRANGER, kind: "log" }),
    });
    const log = await verify(ledger.address, other);
    assert.equal(log.status, 1);
    assert.equal(
      log.lines[0],
      "the ledger: the checkpoint is not signed by the key of sealoop.localhost",
    );
  });
  it("reports a missing end that a checkpoint covers", async () => {
    const client = new pg.Client({ connectionString: sealing.database.superuserUrl });
    await client.connect();
    await client.query(`SET session_replication_role = replica;
      DELETE FROM receipts WHERE position = 299;
      UPDATE ledger_head SET size = 299, hash = (SELECT hash FROM receipts WHERE position = 298)`);
    await client.end();
    assert.deepEqual(await verify(ledger.address), {
      status: 1,
      lines: [
        "position 299: the end is missing, as a checkpoint of 300 was signed",
        "299 receipts, 1 problem, checkpoint of 300",
      ],
    });
  });
});
