import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { loadConfig, ROOT } from "../../../config.ts";
import { sha256 } from "../../../ledger/crypto/mod.ts";
import {
  computeRootAt,
  createHashReader,
  findContradiction,
  formatSignature,
  formatVerifierKey,
  getPublishedCheckpoint,
  isSignedBy,
  parseVerifierKey,
  readLogSettings,
} from "../../../ledger/log/mod.ts";
import { type NoteKey, parseCheckpoint, parseNote } from "../../../ledger/notes/mod.ts";
import { type Hash, isConsistent } from "../../../ledger/rules/mod.ts";
import { testFolder } from "../../_run.ts";
import { serveLedger, startSealing, type TestSealing } from "../_ledger.ts";

const run = promisify(execFile);

describe("the Merkle log", () => {
  let sealing: TestSealing;
  beforeEach(async () => {
    sealing = await startSealing();
  });
  afterEach(() => sealing.stop());

  /** Waits for a published checkpoint of at least so many leaves. */
  async function checkpointOf(size: number) {
    for (const deadline = Date.now() + 120_000; Date.now() < deadline; await sleep(20)) {
      const checkpoint = await getPublishedCheckpoint(sealing.app);
      if (checkpoint && checkpoint.size >= size) return checkpoint;
    }
    throw new Error(`No checkpoint of ${size}: ${sealing.troubles.join("; ")}`);
  }
  const settings = () => readLogSettings(loadConfig({ SEALOOP_DATA: sealing.folder }));
  async function asSuperuser(sql: string) {
    const client = new pg.Client({ connectionString: sealing.database.superuserUrl });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }

  it("signs a checkpoint of the genesis, and then of all sealed receipts", async () => {
    assert.equal((await checkpointOf(1)).size, 1);
    await sealing.seal(2);
    const { note, root, verifierKey } = await checkpointOf(3);
    const parsed = parseNote(note);
    assert.ok(isSignedBy(parsed, parseVerifierKey(verifierKey)));
    assert.deepEqual(parseCheckpoint(parsed.text), {
      origin: "sealoop.localhost",
      size: 3,
      root: new Uint8Array(root),
    });
    assert.equal(await readFile(join(sealing.folder, "checkpoint"), "utf8"), note);
    assert.deepEqual(sealing.troubles, []);
  });

  it("has the same tree whether it was given a receipt's leaf or reads it from the database", async () => {
    await sealing.seal(699);
    const { size, root } = await checkpointOf(700);
    await sealing.pause();
    const client = new pg.Client({ connectionString: sealing.database.superuserUrl });
    await client.connect();
    await client.query("SET session_replication_role = replica; DELETE FROM log_tiles");
    await client.end();
    const rebuilt = await computeRootAt(size, async (level, from, to) => {
      assert.ok(level === 0 || from === to, "no tile is there");
      return await createHashReader(sealing.app)(level, from, to);
    }, sha256).catch((error) => error);
    assert.ok(rebuilt instanceof Error, "whole tiles are needed for a tree of 700");
    sealing.go();
    await sealing.seal(1);
    await checkpointOf(701);
    assert.deepEqual(
      Buffer.from(await computeRootAt(700, createHashReader(sealing.app), sha256)).toString("hex"),
      root.toString("hex"),
    );
    assert.deepEqual(sealing.troubles, []);
  });

  it("continues after a restart, and only ever grows", async () => {
    await sealing.seal(299);
    const first = await checkpointOf(300);
    await sealing.pause();
    sealing.go();
    await sealing.seal(300);
    await checkpointOf(600);
    assert.deepEqual(
      Buffer.from(await computeRootAt(first.size, createHashReader(sealing.app), sha256)),
      first.root,
    );
    assert.deepEqual(sealing.troubles, []);
  });

  it("reports that the end is missing, and signs nothing at all, where the database has lost it", async () => {
    await sealing.seal(4);
    await checkpointOf(5);
    await sealing.pause();
    await asSuperuser(`SET session_replication_role = replica;
      DELETE FROM receipts WHERE position >= 3;
      UPDATE ledger_head SET size = 3, hash = (SELECT hash FROM receipts WHERE position = 2);
      DELETE FROM log_checkpoint`);
    const missing =
      "The ledger has 3 receipts, and a checkpoint was signed of 5: its end is missing";
    assert.equal(await findContradiction(sealing.app, settings()), missing);
    sealing.go();
    await assert.rejects(sealing.untilSealed(4), { name: "SealingHeld" });
    assert.equal(await getPublishedCheckpoint(sealing.app), undefined);
  });

  it("reports that stored receipts are not those it has signed, where one was changed", async () => {
    await sealing.seal(4);
    await checkpointOf(5);
    await sealing.pause();
    await asSuperuser(`SET session_replication_role = replica;
      UPDATE receipts SET signature = decode(repeat('00', 64), 'hex') WHERE position = 2`);
    assert.match(
      (await findContradiction(sealing.app, settings()))!,
      /^The first 5 receipts are not those/,
    );
  });

  it("refuses a checkpoint file that is signed by another key, or is none", async () => {
    await sealing.seal(1);
    await checkpointOf(1);
    await sealing.pause();
    await rm(join(sealing.folder, "checkpoint.key"));
    await assert.rejects(findContradiction(sealing.app, settings()), /not signed by the log's key/);
    await writeFile(join(sealing.folder, "checkpoint"), "no note");
    await assert.rejects(findContradiction(sealing.app, settings()), { name: "BadNote" });
  });

  it("is read and verified whole by Go's own client of transparency logs", async function () {
    const client = await goClient();
    if (typeof client !== "string") {
      console.log(`      not run: ${client.reason}`);
      return this.skip();
    }
    await sealing.seal(699);
    const { verifierKey } = await checkpointOf(700);
    const ledger = await serveLedger(sealing.database);
    try {
      const { stdout } = await run(client, [ledger.address, verifierKey], { timeout: 60_000 });
      assert.equal(stdout, "verified 700 leaves\n");
    } finally {
      await ledger.stop();
    }
  });
});

describe("witnesses", () => {
  it("cosign a log that only grew, by the published protocol", async () => {
    const witness = await openWitness("witness.example/w1");
    const sealing = await startSealing({
      SEALOOP_WITNESSES: `${formatVerifierKey(witness.key)} ${witness.url}/`,
    });
    try {
      for (const size of [3, 300, 600]) {
        while (witness.size < 1) await sleep(10); // the genesis
        await sealing.seal(size - witness.size);
        while (witness.size < size) await sleep(10);
      }
      await sealing.pause();
      const { note, verifierKey } = (await getPublishedCheckpoint(sealing.app))!;
      const parsed = parseNote(note);
      assert.equal(parseCheckpoint(parsed.text).size, 600);
      assert.ok(isSignedBy(parsed, parseVerifierKey(verifierKey)));
      assert.ok(isSignedBy(parsed, witness.key));
      assert.ok(witness.proofs > 0, "it was given proofs");
      witness.forget(); // as one that was set up again: it answers with size 0, and gets no proof
      sealing.go();
      await sealing.seal(1);
      while (witness.size < 601) await sleep(10);
      assert.deepEqual(sealing.troubles, []);
    } finally {
      await sealing.stop();
      await witness.stop();
    }
  });
  it("that answer wrongly, or not at all, do not keep a checkpoint from being published", async () => {
    const witness = await openWitness("witness.example/w2");
    const sealing = await startSealing({
      SEALOOP_WITNESSES: [
        `${formatVerifierKey(witness.key)} ${witness.url}`,
        `${formatVerifierKey(witness.key)} http://127.0.0.1:1`,
      ].join(","),
    });
    witness.lie();
    try {
      await sealing.seal(2);
      while (((await getPublishedCheckpoint(sealing.app))?.size ?? 0) < 2) await sleep(10);
      const { note } = (await getPublishedCheckpoint(sealing.app))!;
      assert.equal(parseNote(note).signatures.length, 1);
      assert.ok(sealing.troubles.some((t) => /without a cosignature of its key/.test(t)));
      assert.ok(sealing.troubles.some((t) => /did not answer/.test(t)));
    } finally {
      await sealing.stop();
      await witness.stop();
    }
  });
});

/** Starts a C2SP tlog-witness for one log. It cosigns a checkpoint that is proven to begin with its last. */
async function openWitness(name: string) {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  const key: NoteKey = { name, publicKey: raw, kind: "witness" };
  const state = { size: -1, root: Buffer.alloc(0) as Hash, proofs: 0, lying: false };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const at = body.indexOf("\n\n");
    const [old, ...proof] = body.slice(0, at).split("\n");
    const { text } = parseNote(body.slice(at + 2));
    const { size, root } = parseCheckpoint(text);
    if (request.url !== "/add-checkpoint") return void response.writeHead(404).end();
    const known = Math.max(state.size, 0);
    if (old !== `old ${known}`) return void response.writeHead(409).end(`${known}\n`);
    const hashes = proof.map((line) => Buffer.from(line, "base64"));
    state.proofs += hashes.length;
    const [oldSize, oldRoot, newSize, newRoot] = [known, state.root, size, root];
    if (
      known > 0 && !isConsistent({ oldSize, oldRoot, newSize, newRoot, proof: hashes }, sha256)
    ) {
      return void response.writeHead(422).end();
    }
    [state.size, state.root] = [size, root];
    response.end(formatSignature(key, cosignature(text, state.lying ? undefined : privateKey)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    key,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get size() {
      return state.size;
    },
    get proofs() {
      return state.proofs;
    },
    forget: () => void (state.size = -1),
    lie: () => void (state.lying = true),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function cosignature(text: string, privateKey: KeyObject | undefined): Buffer {
  const time = BigInt(Math.floor(Date.now() / 1000));
  const stamp = Buffer.alloc(8);
  stamp.writeBigUInt64BE(time);
  const signed = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
  return Buffer.concat([stamp, privateKey ? sign(null, signed, privateKey) : Buffer.alloc(64)]);
}

/** Builds the client. @returns its path, or why it can't be built here */
async function goClient(): Promise<string | { reason: string }> {
  const path = join(await testFolder(), "tlog-client");
  try {
    await run("go", ["build", "-o", path, "."], {
      cwd: join(ROOT, "test/ledger/log/client"),
      timeout: 90_000,
    });
    return path;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return { reason: (stderr || message).trim().split("\n").at(-1)! };
  }
}
