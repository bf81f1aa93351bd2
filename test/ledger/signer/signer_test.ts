import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createPublicKey, verify } from "node:crypto";
import { once } from "node:events";
import {
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadSigningKey, verifyEd25519 } from "../../../ledger/crypto/mod.ts";
import {
  type BatchReceipt,
  getHeadAfter,
  openSigner,
  openSocketKey,
  serveKey,
  type Signer,
} from "../../../ledger/signer/mod.ts";
import { program } from "../../_programs.ts";
import { testFolder } from "../../_run.ts";
import { EMPTY, makeBatch } from "./_batches.ts";
import { MemoryObjects } from "./_objects.ts";

const run = promisify(execFile);

describe("the signer", () => {
  let folder: string;
  let keyFile: string;
  let signer: Signer;
  beforeEach(async () => {
    folder = await testFolder();
    keyFile = join(folder, "ledger.key");
    signer = await openSigner(keyFile);
    await signer.startFrom(EMPTY);
  });
  afterEach(() => signer.close());

  /** Opens the signer again, as after a crash: what it has not written is lost. */
  async function reopen(): Promise<void> {
    const before = signer;
    signer = await openSigner(keyFile);
    await before.close();
  }
  const journal = () => join(folder, "signer", readdirSync(join(folder, "signer")).sort().at(-1)!);

  it("signs each record with its key", async () => {
    const batch = makeBatch(EMPTY, 3);
    const { publicKey, signatures } = await signer.sign(batch);
    assert.deepEqual(publicKey, signer.publicKey);
    const key = createPublicKey(readFileSync(keyFile));
    batch.receipts.forEach(({ record }, n) => assert.ok(verify(null, record, key, signatures[n]!)));
  });

  it("keeps key and journal to its own user", () => {
    for (const path of [keyFile, journal()]) {
      assert.equal(statSync(path).mode & 0o777, 0o600);
    }
    assert.equal(statSync(join(folder, "signer")).mode & 0o777, 0o700);
  });

  it("gives the same bytes the same signatures, also after a crash", async () => {
    const batch = makeBatch(EMPTY, 3);
    const first = await signer.sign(batch);
    assert.deepEqual(await signer.sign(batch), first);
    await reopen();
    assert.deepEqual(signer.state().pending, [batch]);
    assert.deepEqual(await signer.sign(batch), first);
  });

  it("signs with another key, and has its signatures also where that key is gone", async () => {
    const recovery = loadSigningKey(join(folder, "recovery.key"));
    const batch = makeBatch(EMPTY, 1);
    const first = await signer.sign(batch, recovery);
    assert.deepEqual(first.publicKey, recovery.publicKey);
    await reopen();
    assert.deepEqual(await signer.sign(batch), first);
    const [{ record }] = batch.receipts as [BatchReceipt];
    const key = createPublicKey(recovery.privateKey);
    assert.ok(verify(null, record, key, first.signatures[0]!));
  });

  it("refuses other bytes at a position that it has signed", async () => {
    const batch = makeBatch(EMPTY, 3);
    await signer.sign(batch);
    const others = [
      makeBatch(EMPTY, 3, "other"),
      makeBatch(EMPTY, 2),
      makeBatch(EMPTY, 4),
      makeBatch({ size: 1, hash: batch.receipts[0]!.hash }, 1, "other"),
    ];
    for (const other of others) {
      await assert.rejects(signer.sign(other), { name: "SignatureRefused" });
    }
    await reopen();
    for (const other of others) {
      await assert.rejects(signer.sign(other), { name: "SignatureRefused" });
    }
  });

  it("refuses every position before what is committed", async () => {
    const batch = makeBatch(EMPTY, 3);
    await signer.sign(batch);
    signer.acknowledge(getHeadAfter(batch));
    await assert.rejects(signer.sign(batch), { name: "SignatureRefused" });
    await signer.close();
    signer = await openSigner(keyFile);
    await assert.rejects(signer.sign(batch), { name: "SignatureRefused" });
    assert.deepEqual(signer.state().committed, getHeadAfter(batch));
  });

  it("refuses a gap, and a link to another receipt", async () => {
    const batch = makeBatch(EMPTY, 3);
    await signer.sign(batch);
    const { size, hash } = getHeadAfter(batch);
    const wrong = Buffer.alloc(32, 1);
    await assert.rejects(signer.sign(makeBatch({ size: size + 1, hash }, 1)), /has signed 3/);
    await assert.rejects(signer.sign(makeBatch({ size, hash: wrong }, 1)), /receipt before/);
    await signer.sign(makeBatch({ size, hash }, 1));
  });

  it("signs several batches at a time, in their order", async () => {
    const first = makeBatch(EMPTY, 200);
    const second = makeBatch(getHeadAfter(first), 200);
    const third = makeBatch(getHeadAfter(second), 1);
    await Promise.all([first, second, third].map((batch) => signer.sign(batch)));
    signer.acknowledge(getHeadAfter(first));
    await reopen();
    assert.deepEqual(signer.state().pending.map(({ before }) => before.size).slice(-2), [200, 400]);
  });

  it("is replaced by one that is opened later, and then signs nothing", async () => {
    const batch = makeBatch(EMPTY, 1);
    await signer.sign(batch);
    const later = await openSigner(keyFile);
    const next = makeBatch(getHeadAfter(batch), 1);
    await assert.rejects(signer.sign(next), { name: "SignerReplaced" });
    await assert.rejects(signer.sign(batch), { name: "SignerReplaced" });
    assert.deepEqual(later.state().pending, [batch]);
    const latest = await openSigner(keyFile);
    await assert.rejects(later.sign(next), { name: "SignerReplaced" });
    await latest.sign(next);
    await Promise.all([later.close(), latest.close()]);
  });

  it("is one, of many that are opened and sign at once", async () => {
    const signed = new Set<string>();
    await Promise.all(Array.from({ length: 12 }, async (_, n) => {
      const one = await openSigner(keyFile).catch(() => undefined);
      const batch = makeBatch(EMPTY, 1, `of ${n}`);
      await one?.sign(batch).then(() => signed.add(`of ${n}`), () => {});
      await one?.close();
    }));
    await reopen();
    const [only] = signer.state().pending;
    assert.ok(signed.size <= 1, [...signed].join());
    if (signed.size === 1) assert.deepEqual(only, makeBatch(EMPTY, 1, [...signed][0]));
  });

  it("keeps the newest 64 MiB of what is committed, with its signatures", async () => {
    let head = EMPTY;
    for (let n = 0; n < 105; n++) {
      const batch = makeBatch(head, 1, "x".repeat(1024 * 1024));
      await signer.sign(batch);
      head = getHeadAfter(batch);
      signer.acknowledge(head);
    }
    await reopen();
    const { committed, pending } = signer.state();
    assert.equal(committed!.size + pending.length, 105);
    assert.ok(statSync(journal()).size < 20 * 1024 * 1024);
    const sizes = readdirSync(join(folder, "signer"))
      .map((name) => statSync(join(folder, "signer", name)).size);
    const total = sizes.reduce((sum, size) => sum + size) / 1024 / 1024;
    assert.ok(total >= 64 && total < 100, `${total} MiB`);
    const [first, ...more] = await signer.readCommitted(105 - 60);
    assert.equal(more.length, 59);
    const key = createPublicKey(readFileSync(keyFile));
    assert.ok(verify(null, first!.record, key, first!.signature));
    assert.deepEqual(await signer.readCommitted(1), [], "it is too old");
  });

  it("keeps what was committed before a crash that left no word of it", async () => {
    const batch = makeBatch(EMPTY, 2);
    const { publicKey, signatures } = await signer.sign(batch);
    await reopen();
    signer.acknowledge(getHeadAfter(batch)); // as the database has it
    const kept = await signer.readCommitted(0);
    assert.deepEqual(
      kept,
      batch.receipts.map((receipt, n) => ({
        ...receipt,
        position: n,
        publicKey,
        signature: signatures[n],
      })),
    );
  });

  it("leaves out a batch that was not written to its end: its signatures never left", async () => {
    const batch = makeBatch(EMPTY, 3);
    await signer.sign(batch);
    const { length } = readFileSync(journal());
    await signer.sign(makeBatch(getHeadAfter(batch), 3));
    await signer.close();
    const bytes = readFileSync(journal());
    for (const end of [length + 1, length + 7, length + 60, bytes.length - 1]) {
      writeFileSync(journal(), bytes.subarray(0, end));
      signer = await openSigner(keyFile);
      assert.deepEqual(signer.state().pending, [batch]);
      await signer.close();
    }
    writeFileSync(journal(), Buffer.concat([bytes.subarray(0, length), Buffer.alloc(4096)]));
    signer = await openSigner(keyFile);
    assert.deepEqual(signer.state().pending, [batch]);
  });

  it("refuses to open a journal of which any byte was changed", async () => {
    await signer.sign(makeBatch(EMPTY, 2));
    await signer.close();
    const path = journal();
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; at += 1 + at % 7) {
      const damaged = Buffer.from(bytes);
      damaged[at]! ^= 0x10;
      writeFileSync(path, damaged);
      await assert.rejects(openSigner(keyFile), { name: "SignerStateError" }, `byte ${at}`);
    }
    assert.deepEqual(readdirSync(join(folder, "signer")).length, 1);
    writeFileSync(path, bytes);
    signer = await openSigner(keyFile);
    assert.equal(signer.state().pending.length, 1);
  });

  it("refuses a key without its journal, and a journal without its key", async () => {
    await signer.sign(makeBatch(EMPTY, 1));
    await signer.close();
    const key = readFileSync(keyFile);
    rmSync(keyFile);
    await assert.rejects(openSigner(keyFile), /ledger's key is missing/);
    rmSync(join(folder, "signer"), { recursive: true });
    writeFileSync(keyFile, key, { mode: 0o600 });
    await assert.rejects(
      openSigner(keyFile),
      /folder signer beside the ledger's key is missing/,
    );
    rmSync(keyFile);
    signer = await openSigner(keyFile);
  });
});

describe("a key that another process has", () => {
  let folder: string;
  let socket: string;
  beforeEach(async () => {
    folder = await testFolder();
    socket = join(folder, "signer.sock");
  });
  const open = () => openSigner(join(folder, "ledger.key"), { socket });

  /** Makes a key elsewhere, and serves it. */
  async function serve() {
    const keyFile = join(await testFolder(), "ledger.key");
    loadSigningKey(keyFile);
    return await serveKey(keyFile, socket);
  }

  it("signs as a file would, and no file is made", async () => {
    const { publicKey, close } = await serve();
    assert.equal(statSync(socket).mode & 0o777, 0o600);
    const signer = await open();
    await signer.startFrom(EMPTY);
    const batch = makeBatch(EMPTY, 256, "x".repeat(2_000));
    const { signatures } = await signer.sign(batch);
    assert.deepEqual(signer.publicKey, publicKey);
    batch.receipts.forEach(({ record }, n) => {
      assert.ok(verifyEd25519(publicKey.toString("hex"), record, signatures[n]!));
    });
    await signer.close();
    await close();
    assert.deepEqual(readdirSync(folder), ["signer"]);
  });

  it("gives no signature while that is away or has another key, and the same afterwards", async () => {
    await assert.rejects(open(), { name: "SignerAway" });
    const first = await serve();
    const signer = await open();
    await signer.startFrom(EMPTY);
    await first.close();
    const batch = makeBatch(EMPTY, 1);
    await assert.rejects(signer.sign(batch), { name: "SignerAway" });
    const other = await serve();
    await assert.rejects(signer.sign(batch), /does not sign with the key/);
    await Promise.all([signer.close(), other.close()]);
  });

  it("is made by no signer", async () => {
    await assert.rejects(serveKey(join(folder, "none.key"), socket), { name: "BadKeyFile" });
    assert.deepEqual(readdirSync(folder), []);
  });

  it("is served by one process at a time", async () => {
    const { close } = await serve();
    await assert.rejects(serve(), /Another signer answers/);
    await close();
  });

  it("is served at the socket of a process that was killed, and removes no other file", async () => {
    const left = createServer().listen(socket);
    await once(left, "listening");
    linkSync(socket, join(folder, "left")); // outlives its server, as after kill -9
    left.close();
    await once(left, "close");
    renameSync(join(folder, "left"), socket);
    await (await serve()).close();
    writeFileSync(socket, "a file of somebody");
    await assert.rejects(serve(), /it is no socket/);
    assert.equal(readFileSync(socket, "utf8"), "a file of somebody");
  });

  it("is asked for no signature before the journal has the batch", async () => {
    const asked: (string | undefined)[] = [];
    const server = createHttpServer(({ url }, response) => {
      asked.push(url);
      response.end(JSON.stringify({ public_key: "5a".repeat(32) }));
    }).listen(socket);
    await once(server, "listening");
    const objects = new MemoryObjects();
    const signer = await openSigner(join(folder, "ledger.key"), { socket, journal: objects });
    await signer.startFrom(EMPTY);
    objects.create = async () => {
      await (await openSocketKey(socket)).close(); // has been asked by now whatever it was to be asked
      throw new Error("The bucket is away");
    };
    await assert.rejects(signer.sign(makeBatch(EMPTY, 1)), /bucket is away/);
    assert.deepEqual(asked, ["/key", "/key"]);
    await signer.close();
    server.close();
  });
});

describe("the signer's clock", () => {
  it("may not go back, also over a restart", async () => {
    const keyFile = join(await testFolder(), "ledger.key");
    let time = Date.parse("2026-07-01T12:00:00Z");
    const now = () => time;
    let signer = await openSigner(keyFile, { now });
    await signer.startFrom(EMPTY);
    const first = makeBatch(EMPTY, 1);
    await signer.sign(first);
    await signer.close();
    time -= 60_000;
    signer = await openSigner(keyFile, { now });
    const second = makeBatch(getHeadAfter(first), 1);
    await assert.rejects(signer.sign(second), { name: "ClockWentBack" });
    time += 59_000; // as a time server corrects it
    const signing = signer.sign(second);
    time += 1_000;
    await signing;
    assert.equal(signer.state().signedAt, Date.parse("2026-07-01T12:00:00Z"));
    await signer.close();
  });
});

describe("a disk that is full", () => {
  it("ends the signer without a signature, and it continues when there is space", async () => {
    const keyFile = join(await testFolder(), "ledger.key");
    const args = [await program("test/ledger/signer/_full_disk_program.ts"), keyFile];
    const shell = `ulimit -f 400; exec "$0" "$@"`; // blocks of 1 KiB for each file
    const { stdout } = await run("bash", ["-c", shell, process.execPath, ...args]);
    const { signed, errors } = JSON.parse(stdout);
    assert.ok(signed >= 2, stdout);
    assert.deepEqual(errors, ["EFBIG", "EFBIG"]);
    const signer = await openSigner(keyFile);
    const { pending } = signer.state();
    assert.equal(pending.length, signed);
    await signer.sign(makeBatch(getHeadAfter(pending.at(-1)!), 1, "other"));
    await signer.close();
  });
});
