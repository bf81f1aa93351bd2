import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { createHash, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { ROOT } from "../../../config.ts";
import {
  beginScrub,
  canonicalize,
  endScrub,
  exportReceipts,
  getHead,
  importLedger,
  listLedgerKeys,
  readLogSettings,
  scrubPart,
  watchChain,
} from "../../../ledger/mod.ts";
import { loadConfig } from "../../../config.ts";
import { openStore } from "../../../store/mod.ts";
import { program } from "../../_programs.ts";
import { testFolder } from "../../_run.ts";
import { testDatabase } from "../../_servers.ts";
import { serveLedger, startSealing, type TestSealing } from "../_ledger.ts";
import { makeKey, type TestKey } from "./_test_chain.ts";

/** A receipt that an attacker signs for the next position of a ledger. */
async function forge(
  { app }: TestSealing,
  key: TestKey,
  fields: Readonly<Record<string, unknown>> = {},
) {
  const { size, hash } = await getHead(app);
  const id = createHash("sha256").update(String(Math.random())).digest("hex").slice(0, 16);
  const record = Buffer.from(canonicalize({
    id,
    timestamp: "2026-07-01T09:00:00.000000+00:00",
    category: "platform_fix",
    actor: "attacker",
    subject: "subject",
    action: "act",
    outcome: "ok",
    human_input: "",
    details: {},
    schema_version: "3.0",
    chain_position: size,
    prev_hash: hash,
    ...fields,
  }));
  return {
    id,
    size,
    category: String(fields.category ?? "platform_fix"),
    record,
    before: Buffer.from(hash, "hex"),
    hash: createHash("sha256").update(record).digest(),
    signature: sign(null, record, key.privateKey),
  };
}

const bytes = (key: TestKey) => Buffer.from(key.publicKey, "hex");

describe("whoever has a database role", () => {
  let sealing: TestSealing;
  let sequencer: pg.Client;
  const thief = makeKey();
  before(async () => {
    sealing = await startSealing();
    await sealing.seal(3);
    await sealing.pause();
    sequencer = new pg.Client(sealing.database.urls.sequencer);
    await sequencer.connect();
  });
  after(async () => {
    await sequencer.end();
    await sealing.stop();
  });

  it("can write neither keys nor receipts nor the head, as the sequencer or any other", async () => {
    const statements = [
      "INSERT INTO ledger_keys (from_position, public_key) VALUES (4, sha256('x'))",
      "INSERT INTO receipts (position, id, category, hash, record) VALUES (4, 'a', 'b', 'c', 'd')",
      "UPDATE ledger_head SET size = 0",
      "UPDATE ledger_keys SET recovery_key = public_key",
      "DELETE FROM ledger_keys",
      "TRUNCATE ledger_keys",
      "UPDATE ledger_import SET finished_at = now()",
      "SET ROLE sealoop_ledger_writer",
      "SELECT introduce_keys(4, sha256('x'), sha256('x'), '{}', '')",
    ];
    const { owner: _, ...roles } = sealing.database.urls;
    for (const [role, url] of Object.entries(roles)) {
      const client = new pg.Client(url);
      await client.connect();
      for (const statement of statements) {
        await assert.rejects(client.query(statement), /permission denied/, `${role}: ${statement}`);
      }
      await client.end();
    }
  });

  async function append(
    forged: Awaited<ReturnType<typeof forge>>,
    key: Buffer,
    changes: Partial<Awaited<ReturnType<typeof forge>>> = {},
  ): Promise<void> {
    const { size, before, id, category, hash, record, signature } = { ...forged, ...changes };
    await sequencer.query("SELECT append_receipts($1, $2, $3, $4, $5, $6, $7, $8, $9)", [
      size,
      before,
      key,
      [id],
      [category],
      [hash],
      [record],
      [signature],
      [],
    ]);
  }

  it("appends nothing with a key that is not in force", async () => {
    await assert.rejects(append(await forge(sealing, thief), bytes(thief)), /does not sign/);
  });

  it("appends nothing that is not linked, or not what its columns say", async () => {
    const { publicKey } = (await listLedgerKeys(sealing.app))[0]!;
    const key = Buffer.from(publicKey, "hex");
    const cases = [
      await forge(sealing, thief, { prev_hash: "00".repeat(32) }),
      await forge(sealing, thief, { chain_position: 9 }),
      { ...await forge(sealing, thief), category: "self_heal" },
      { ...await forge(sealing, thief), id: "another" },
      { ...await forge(sealing, thief), hash: Buffer.alloc(32) },
    ];
    for (const forged of cases) {
      await assert.rejects(append(forged, key), /not linked to the one before, or not what it is/);
    }
    const late = { ...await forge(sealing, thief), size: 2 };
    await assert.rejects(append(late, key), /not at size 2 any more/);
  });

  it("appends no batch whose parts are not the same number of elements, counted from 1", async () => {
    const { publicKey } = (await listLedgerKeys(sealing.app))[0]!;
    const { size, before, id, category, hash, record, signature } = await forge(sealing, thief);
    const parts = [[id], [category], [hash], [record], [signature]];
    const bounds = "[2:2]={platform_fix}";
    const nested = parts.map((part) => [part]);
    const batches = [
      parts.map(() => []),
      nested,
      [[id], bounds, ...parts.slice(2)],
      [...parts.slice(0, 2), [hash, hash], ...parts.slice(3)],
      [...parts.slice(0, 4), []],
    ];
    for (const batch of batches) {
      const appending = sequencer.query(
        "SELECT append_receipts($1, $2, $3, $4, $5, $6, $7, $8, '{}')",
        [size, before, Buffer.from(publicKey, "hex"), ...batch],
      );
      await assert.rejects(appending, /as many of everything/);
    }
    assert.deepEqual(await getHead(sealing.app), { size, hash: before.toString("hex") });
  });

  it("introduces no key: not as a genesis, an adoption or a rotation", async () => {
    const recovery = makeKey();
    const own = { ledger_key: thief.publicKey, recovery_key: recovery.publicKey };
    const [inForce] = await listLedgerKeys(sealing.app);
    const { hash: head, size } = await getHead(sealing.app);
    for (
      const [category, details] of [
        ["ledger_genesis", own],
        ["ledger_adopted", { ...own, size, head, keys: [] }],
        ["key_rotated", { new_key: thief.publicKey, recovery_key: inForce!.recoveryKey }],
      ] as const
    ) {
      const forged = await forge(sealing, thief, { category, details });
      await assert.rejects(append(forged, bytes(thief)), /may not introduce a key/, category);
    }
    assert.equal((await listLedgerKeys(sealing.app)).length, 1);
  });

  it("does not change the recovery key by a rotation with the ledger key", async () => {
    const [inForce] = await listLedgerKeys(sealing.app);
    const details = { new_key: thief.publicKey, recovery_key: thief.publicKey };
    const forged = await forge(sealing, thief, { category: "key_rotated", details });
    const key = Buffer.from(inForce!.publicKey, "hex");
    await assert.rejects(append(forged, key), /may not introduce a key/);
  });

  it("imports nothing over a ledger", async () => {
    await assert.rejects(sequencer.query("SELECT finish_import(0, '{}', '{}', '{}')"), /not empty/);
  });
});

describe("a superuser who publishes a key of their own", () => {
  const thief = makeKey();
  let sealing: TestSealing;
  let served: Awaited<ReturnType<typeof serveLedger>>;
  let superuser: pg.Client;
  let position: number;
  let forgedId: string;

  before(async () => {
    sealing = await startSealing();
    await sealing.seal(3);
    await sealing.pause();
    superuser = new pg.Client(sealing.database.superuserUrl);
    await superuser.connect();
    const { recoveryKey } = (await listLedgerKeys(sealing.app))[0]!;
    position = (await getHead(sealing.app)).size;
    await superuser.query(
      "INSERT INTO ledger_keys (from_position, public_key, recovery_key) VALUES ($1, $2, $3)",
      [position, bytes(thief), Buffer.from(recoveryKey!, "hex")],
    );
    for (let n = 0; n < 2; n++) {
      const forged = await forge(sealing, thief);
      forgedId = forged.id;
      await superuser.query(
        `INSERT INTO receipts (position, id, category, hash, record, signature)
         VALUES ($1, $2, $3, $4, $5, $6)`,
        [forged.size, forged.id, forged.category, forged.hash, forged.record, forged.signature],
      );
      await superuser.query("UPDATE ledger_head SET size = $1, hash = $2", [
        forged.size + 1,
        forged.hash,
      ]);
    }
    served = await serveLedger(sealing.database);
  });
  after(async () => {
    await served.stop();
    await superuser.end();
    await sealing.stop();
  });

  it("is found by the scrub", async () => {
    const found: [number, string][] = [];
    const parts = {
      store: sealing.app,
      log: readLogSettings(loadConfig({ SEALOOP_DATA: sealing.folder })),
      onBreak: (one: { position: number; check: string }) => found.push([one.position, one.check]),
      onError: (error: unknown) => assert.fail(String(error)),
    };
    let pass = await beginScrub(parts, null);
    while (pass.place.position < pass.size) pass = await scrubPart(parts, pass);
    const { breaks } = await endScrub(parts, pass);
    assert.deepEqual({ found, breaks }, { found: [[position, "keys"]], breaks: 1 });
  });

  it("is found by every process that watches the chain", async () => {
    const watch = await watchChain(sealing.app);
    const { chain_intact, first_breaks } = await watch.catchUp();
    await watch.close();
    assert.deepEqual([chain_intact, first_breaks[0]?.position], [false, position]);
  });

  it("is found by the public ledger, and in each receipt that they signed", async () => {
    const get = async (path: string) => await (await fetch(`${served.address}${path}`)).json();
    const chain = await get("/api/chain") as { chain_intact: boolean | null };
    assert.notEqual(chain.chain_intact, true);
    const receipt = await get(`/api/verify/${forgedId}`) as { verified: boolean };
    assert.equal(receipt.verified, false);
  });

  it("is found by the command", async () => {
    const command = [await program("processes/commands/verify.ts"), "--threads", "1"];
    const out = await new Promise<string>((resolve) => {
      execFile(process.execPath, [...command, served.address], { cwd: ROOT }, (error, out) => {
        assert.equal(error?.code, 1);
        resolve(out);
      });
    });
    assert.match(
      out,
      new RegExp(`^position ${position}: The key ${thief.publicKey.slice(0, 16)}`, "m"),
    );
  });

  it("is found by the Python program", async function () {
    if (spawnSync("python3", ["-c", "import cryptography"]).status !== 0) this.skip();
    const verifier = join(ROOT, "ledger", "verify_ledger.py");
    const out = await new Promise<string>((resolve) => {
      execFile("python3", [verifier, served.address], (error, out) => {
        assert.equal(error?.code, 1);
        resolve(out);
      });
    });
    assert.match(out, new RegExp(`^position ${position}: the key`, "m"));
  });

  it("is found by an import of what they export", async () => {
    const database = await testDatabase();
    const store = openStore(database.urls.sequencer, "sequencer");
    const receipts = await exportReceipts(sealing.app, { from: 0, to: 100 });
    const keys = (await listLedgerKeys(sealing.app)).map((
      { publicKey, fromPosition, recoveryKey },
    ) => ({
      public_key: publicKey,
      from_position: fromPosition,
      recovery_key: recoveryKey,
    }));
    const path = join(await testFolder(), "export.json");
    const texts = receipts.map(({ text }) => text).join();
    writeFileSync(path, `{"keys":${JSON.stringify(keys)},"receipts":[${texts}]}`);
    await assert.rejects(importLedger(store, path, { threads: 1 }), {
      name: "ImportRefused",
      message: new RegExp(`at position ${position}: The key`),
    });
    await store.close();
    await database.drop();
  });

  it("stops sealing and signs no checkpoint", async () => {
    sealing.go();
    await assert.rejects(sealing.untilSealed(100), { name: "SealingHeld" });
    const { rows: [row] } = await superuser.query("SELECT size FROM log_checkpoint");
    assert.equal(Number(row.size), position);
  });

  it("is found where the key has signed nothing yet", async () => {
    const other = await startSealing();
    await other.seal(2);
    const { size } = await getHead(other.app);
    await other.database.executeAsSuperuser(
      `INSERT INTO ledger_keys (from_position, public_key, recovery_key)
       SELECT 1000, sha256('x'), recovery_key FROM ledger_keys`,
    );
    const watch = await watchChain(other.app, { onDemand: true });
    const { chain_intact, first_breaks, total } = await watch.catchUp();
    await watch.close();
    await other.stop();
    assert.deepEqual([chain_intact, first_breaks[0]?.position, total], [false, 1000, size]);
  });
});
