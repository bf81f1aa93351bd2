import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { loadConfig } from "../../config.ts";
import { openJournalBlobs } from "../../integrations/blobs/mod.ts";
import { getHeadAfter, getSignedHead, openSigner, type Signer } from "../../ledger/signer/mod.ts";
import { type MediaFiles, openMediaFiles } from "../../integrations/media/mod.ts";
import { addMediaFile, publishMediaFile } from "../../store/media/mod.ts";
import { testFolder } from "../_run.ts";
import { startGateway } from "../api/_gateway.ts";
import { EMPTY, makeBatch } from "../ledger/signer/_batches.ts";
import { fetchS3, startBucket, type TestBucket } from "./_s3.ts";
import { skipSuite } from "./_skip.ts";

describe("a bucket that machines share", function () {
  this.timeout(900_000);
  let bucket: TestBucket | undefined;
  before(async function () {
    const fetched = await fetchS3();
    if ("missing" in fetched) return skipSuite(this, fetched.missing);
    bucket = await startBucket(fetched.folder);
  });
  after(() => bucket?.close());

  /** Opens the files of another machine. */
  async function machine(settings: Readonly<Record<string, string>> = {}): Promise<MediaFiles> {
    return openMediaFiles(
      loadConfig({ ...bucket!.settings, ...settings, SEALOOP_DATA: await testFolder() }),
    );
  }

  const blob = (sha256: string) => bucket!.fileOf(`media/${sha256}`);

  it("has what one of them keeps for all of them, byte by byte", async () => {
    const [one, other] = [await machine(), await machine()];
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, n) => n * n % 251));
    const { sha256 } = await one.keepBytes(bytes);
    assert.ok(readFileSync(blob(sha256)).equals(bytes));
    const path = await other.find(sha256);
    assert.ok(readFileSync(path!).equals(bytes));
    assert.equal(await other.find("0".repeat(64)), undefined);
    assert.deepEqual(await one.keepBytes(bytes), { sha256, bytes: bytes.length }, "once more");
  });

  it("is not believed: what differs from its hash is not there", async () => {
    const [one, other] = [await machine(), await machine()];
    const { sha256 } = await one.keepBytes("as it was made");
    writeFileSync(blob(sha256), "as somebody changed it");
    assert.equal(await other.find(sha256), undefined);
    await one.keepBytes("as it was made");
    assert.equal(readFileSync((await other.find(sha256))!, "utf8"), "as it was made");
  });

  it("loses what nobody needs once it is a day old", async () => {
    const one = await machine();
    const [needed, gone, fresh] = await Promise.all(
      ["needed", "gone", "fresh"].map((text) => one.keepBytes(text)),
    );
    const long = new Date(Date.now() - 25 * 3_600_000);
    for (const { sha256 } of [needed!, gone!]) utimesSync(blob(sha256), long, long);
    const other = await machine();
    assert.equal(await other.sweep(() => Promise.resolve(new Set([needed!.sha256]))), 1);
    const left = [needed, gone, fresh].map((file) => existsSync(blob(file!.sha256)));
    assert.deepEqual(left, [true, false, true]);
  });

  it("loses it also where it has more files than one list shows", async () => {
    const long = new Date(Date.now() - 25 * 3_600_000);
    const needed = Array.from({ length: 1_050 }, (_, n) => String(n).padStart(64, "0"));
    const gone = "f".repeat(64); // the last one
    for (const sha256 of [...needed, gone]) {
      writeFileSync(blob(sha256), "");
      utimesSync(blob(sha256), long, long);
    }
    await (await machine()).sweep(() => Promise.resolve(new Set(needed)));
    assert.deepEqual([existsSync(blob(needed[0]!)), existsSync(blob(gone))], [true, false]);
  });

  it("lets machines drop their copies after a day, and fetch them again", async () => {
    const one = await machine();
    const { sha256 } = await one.keepBytes("on two places");
    const path = (await one.find(sha256))!;
    assert.equal(await one.dropCopies(), 0);
    const long = new Date(Date.now() - 25 * 3_600_000);
    utimesSync(path, long, long);
    assert.equal(await one.dropCopies(), 1);
    assert.ok(!existsSync(path));
    const only = (await one.find((await one.keepBytes("on this one alone")).sha256))!;
    rmSync(blob(basename(only)));
    utimesSync(only, long, long);
    assert.equal(await one.dropCopies(), 0, "the bucket lacks it");
    assert.equal(readFileSync((await one.find(sha256))!, "utf8"), "on two places");
  });

  it("says which setting is wrong, and keeps nothing then", async () => {
    const stranger = await machine({ SEALOOP_BLOBS_SECRET: "wrong" });
    await assert.rejects(stranger.keepBytes("x"), /SEALOOP_BLOBS_KEY_ID with SEALOOP_BLOBS_SECRET/);
    const lost = await machine({
      SEALOOP_BLOBS_URL: bucket!.settings.SEALOOP_BLOBS_URL!.replace("/blobs/", "/none/"),
    });
    await assert.rejects(lost.keepBytes("x"), /has no bucket none \(SEALOOP_BLOBS_URL\)/);
    const away = await machine({ SEALOOP_BLOBS_URL: "http://127.0.0.1:1/blobs" });
    await assert.rejects(away.find("0".repeat(64)), { name: "Unavailable" });
  });

  it("has the signer's journal, which one of two signers writes, and tells what that costs", async () => {
    const journal = openJournalBlobs(
      loadConfig({ ...bucket!.settings, SEALOOP_JOURNAL: "journal" }),
    )!;
    const made = await Promise.all(
      ["a", "b", "c", "d"].map((text) => journal.create("one", Buffer.from(text))),
    );
    assert.equal(made.filter(Boolean).length, 1, "of several at once, one creates it");
    const keyFile = join(await testFolder(), "ledger.key");
    const first = await openSigner(keyFile, { journal });
    await first.startFrom(EMPTY);
    const inBucket = await measureBatches(first);
    const second = await openSigner(keyFile, { journal, mayBegin: false });
    const signed = getSignedHead(second.state())!;
    assert.deepEqual(signed, getSignedHead(first.state()));
    await assert.rejects(first.sign(makeBatch(signed, 1, "first")), { name: "SignerReplaced" });
    await second.sign(makeBatch(signed, 1, "second"));
    await Promise.all([first.close(), second.close()]);
    const again = await openSigner(keyFile, { journal, mayBegin: false });
    assert.equal((await again.readCommitted(0)).length, again.state().committed!.size);
    await again.close();

    const inFolder = await openSigner(join(await testFolder(), "ledger.key"));
    await inFolder.startFrom(EMPTY);
    const there = await measureBatches(inFolder);
    await inFolder.close();
    console.log(
      `      a batch of 16: ${there} ms in a folder, ${inBucket} ms in the bucket (median)`,
    );
  });

  /** Signs and commits batches of 16 receipts of 1 KB. @returns the median time of a signature, ms */
  async function measureBatches(signer: Signer): Promise<string> {
    const times: number[] = [];
    for (let head = EMPTY; times.length < 100;) {
      const batch = makeBatch(head, 16, "x".repeat(1_000));
      const begin = performance.now();
      await signer.sign(batch);
      times.push(performance.now() - begin);
      signer.acknowledge(head = getHeadAfter(batch));
    }
    return times.sort((a, b) => a - b)[times.length >> 1]!.toFixed(1);
  }

  it("lets every gateway serve what any worker has made, in parts, too", async () => {
    const { sha256, bytes } = await (await machine()).keepBytes("a film of another machine");
    const gateway = await startGateway({
      settings: { ...bucket!.settings, SEALOOP_DATA: await testFolder() },
    });
    try {
      const { db } = gateway.platform.store;
      await addMediaFile(db, { sha256, bytes, mediaType: "video/mp4" });
      const ask = (headers: Record<string, string> = {}) =>
        fetch(`${gateway.url}/media/${sha256}/film.mp4`, { headers });
      assert.equal((await ask()).status, 404, "it is not published");
      await publishMediaFile(db, sha256);
      assert.equal(await (await ask()).text(), "a film of another machine");
      const part = await ask({ range: "bytes=2-5" });
      assert.deepEqual([part.status, await part.text()], [206, "film"]);
    } finally {
      await gateway.stop();
    }
  });
});
