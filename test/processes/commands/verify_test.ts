import assert from "node:assert/strict";
import { generateKeyPairSync, hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import { formatVerifierKey, signNote } from "../../../ledger/log/mod.ts";
import { formatLeaf, verifyInParallel } from "../../../ledger/mod.ts";
import { formatCheckpoint, type NoteKey } from "../../../ledger/notes/mod.ts";
import { createGrowingTree, hashLeaf } from "../../../ledger/rules/mod.ts";
import { testFolder } from "../../_run.ts";
import { faultyChains, mixedChain, vectorKeys } from "../../ledger/_chains.ts";
import { verify } from "./_verify.ts";

const VECTOR = join(ROOT, "test", "vectors", "mixed-era-chain.json");
const { records } = mixedChain;

describe("npm run verify", () => {
  let folder: string;
  before(async () => {
    folder = await testFolder();
  });
  /** Writes a trust file for the vectors. @returns its path */
  function trust(fields: Readonly<Record<string, unknown>>): string {
    const { publicKey: public_key, fromPosition: from_position } = vectorKeys[0]!;
    const path = join(folder, `trust-${hash("sha256", JSON.stringify(fields)).slice(0, 8)}.json`);
    const ledger_keys = [{ public_key, from_position }];
    writeFileSync(path, JSON.stringify({ ledger_keys, min_era: 1, ...fields }));
    return path;
  }

  it("ends with 0 where everything holds, 1 where it doesn't, 2 where that can't be told", async () => {
    const { records: faulty, breaksAt } = faultyChains[2]!;
    const broken = join(folder, "broken");
    const { publicKey } = vectorKeys[0]!;
    writeFileSync(broken, `{"public_key":"${publicKey}","receipts":[${faulty.join(",")}]}`);
    const unnamed = join(folder, "unnamed");
    writeFileSync(unnamed, `[${faulty.join(",")}]`);
    const gone = join(folder, "gone");
    const [good, keyless, bad, nothing, missing] = await Promise.all([
      verify(VECTOR, "--trust", trust({})),
      verify(unnamed),
      verify(broken),
      verify(join(ROOT, "package.json")),
      verify(gone),
    ]);
    assert.equal(good.status, 0);
    assert.match(good.out, /^51 receipts \(5 of era 1, 6 of era 2, 40 of era 3\), 0 problems$/m);
    assert.match(good.err, /51 receipts verified in .* s, \d+\/s/);
    assert.equal(keyless.status, 2);
    assert.match(keyless.err, /^Cannot verify: Its receipts are signed, .* by which key: pin it$/m);
    assert.equal(bad.status, 1);
    assert.match(bad.out, new RegExp(`^position ${breaksAt}: `, "m"));
    assert.equal(nothing.status, 2);
    assert.match(nothing.err, /^Cannot verify: There are no receipts in it/m);
    assert.equal(missing.status, 2);
    assert.equal(missing.err, `Cannot verify: There is no file ${gone}\n`);
  });

  it("names the receipts that a file lacks once, wherever the threads' work is parted", async () => {
    for (
      const [left, said, count] of [
        [records.toSpliced(20, 1), "position 20: Missing", 50],
        [records.toSpliced(20, 3), "position 20: Missing, with all up to 22", 48],
        [records.slice(15), "position 0: Missing, with all up to 14", 36],
      ] as const
    ) {
      const cut = join(folder, "cut.ndjson");
      writeFileSync(cut, left.join("\n"));
      const { status, out } = await verify(cut, "--trust", trust({}));
      assert.equal(status, 1);
      const [first, , last] = out.trim().split("\n");
      assert.equal(first, said);
      assert.match(last!, new RegExp(`^${count} receipts \\(.*\\), 1 problem$`));
      const whole = await verdictOf(left, left.length);
      for (const size of [1, 2, 7]) assert.deepEqual(await verdictOf(left, size), whole);
      assert.deepEqual([whole.total, whole.end], [count, 51]);
    }
    async function verdictOf(left: readonly string[], size: number) {
      async function* batches() {
        for (let n = 0; n < left.length; n += size) {
          yield left.slice(n, n + size).map((text) => Buffer.from(text));
        }
      }
      return await verifyInParallel(batches(), vectorKeys, { threads: 2 });
    }
  });

  describe("with a checkpoint that was kept", () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const key: NoteKey = {
      name: "ledger.example",
      publicKey: publicKey.export({ format: "der", type: "spki" }).subarray(-32),
      kind: "log",
    };
    const args = (checkpoint: string, log = key) => {
      const log_key = formatVerifierKey(log);
      return [VECTOR, "--trust", trust({ log_key, checkpoint })];
    };
    /** Signs a checkpoint of the vector's first receipts. */
    function checkpointOf(size: number, texts = records): string {
      const tree = createGrowingTree(sha256);
      for (const [position, text] of texts.slice(0, size).entries()) {
        tree.add(hashLeaf(
          Buffer.from(
            formatLeaf(
              { position, id: JSON.parse(text).id, text },
              (bytes) => hash("sha256", bytes),
            ),
          ),
          sha256,
        ));
      }
      const text = formatCheckpoint({ origin: key.name, size, root: tree.root() });
      return signNote(text, key, privateKey);
    }
    const sha256 = (bytes: Uint8Array) => hash("sha256", bytes, "buffer");

    for (const size of [1, 40, 51]) {
      it(`says that it is of these receipts, for the first ${size}`, async () => {
        const good = await verify(...args(checkpointOf(size)));
        assert.match(good.out, new RegExp(`, 0 problems, checkpoint of ${size}$`, "m"));
        assert.equal(good.status, 0);
      });
    }

    it("tells of a chain that holds and is another one than was signed, or a shorter one", async () => {
      const [first, second, ...others] = records;
      const another = checkpointOf(40, [second!, first!, ...others]);
      const longer = checkpointOf(52, [...records, first!]);
      for (
        const [note, said] of [
          [another, /^position 39: Up to here it is not what the checkpoint of 40 receipts/m],
          [longer, /^position 51: Missing: a checkpoint of 52 receipts was signed$/m],
        ] as const
      ) {
        const bad = await verify(...args(note));
        assert.match(bad.out, said);
        assert.equal(bad.status, 1);
      }
    });

    it("can't tell where another has signed it, or nobody says who", async () => {
      const other = { ...key, publicKey: Buffer.alloc(32, 7) };
      const checkpoint = checkpointOf(40);
      const foreign = await verify(...args(checkpoint, other));
      assert.match(
        foreign.err,
        /^Cannot verify: The trust file .* The seen checkpoint is not signed by the key of/m,
      );
      const unknown = await verify(VECTOR, "--trust", trust({ checkpoint }));
      assert.match(unknown.err, /It has a checkpoint and no log_key/m);
      const none = await verify(
        VECTOR,
        "--trust",
        trust({ log_key: formatVerifierKey(key) }),
      );
      assert.match(
        none.err,
        /^Cannot verify: The log's key is pinned, and there is no checkpoint/m,
      );
      assert.deepEqual([foreign.status, unknown.status, none.status], [2, 2, 2]);
    });
  });
});
