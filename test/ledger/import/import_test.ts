import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  exportReceipts,
  getHead,
  importLedger,
  type ImportOptions,
  listLedgerKeys,
  requestSeal,
  watchChain,
} from "../../../ledger/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { testFolder } from "../../_run.ts";
import { faultyChains, mixedChain, unsignedChain, vectorKeys } from "../_chains.ts";
import { anyRequest, prepareSealing, type TestSealing } from "../_ledger.ts";

const KEY = vectorKeys[0]!.publicKey;
const VECTOR = join(import.meta.dirname, "..", "..", "vectors", "mixed-era-chain.json");
const { records } = mixedChain;

describe("importLedger()", () => {
  let folder: string;
  let ledger: TestSealing;
  let store: Store;

  before(async () => {
    folder = await testFolder();
  });
  beforeEach(async () => {
    ledger = await prepareSealing();
    store = openStore(ledger.database.urls.sequencer, "sequencer");
  });
  afterEach(async () => {
    await store.close();
    await ledger.stop();
  });

  let files = 0;
  function file(text: string): string {
    const path = join(folder, `ledger-${files++}`);
    writeFileSync(path, text);
    return path;
  }
  const load = (path: string, options: ImportOptions = { keys: [KEY] }) =>
    importLedger(store, path, { threads: 1, ...options });
  const exported = async () =>
    (await exportReceipts(ledger.app, { from: 0, to: 10_000 })).map(({ text }) => text);

  for (
    const [form, text] of Object.entries({
      "a bare array, newest first": `[${records.toReversed().join(",")}]`,
      "an array, oldest first, with spaces": `[\n ${records.join(" ,\r\n\t")}\n]\n`,
      "one receipt a line": records.map((record) => `${record}\n`).join(""),
      "what /api/export gives": `{"from":0,"total":${records.length},"receipts":[${
        records.join(",")
      }]}`,
    })
  ) {
    it(`imports ${form}, and exports it byte for byte`, async () => {
      assert.deepEqual(await load(file(text)), {
        total: records.length,
        keys: vectorKeys.map((key) => ({ ...key, isPinned: true })),
        isNew: true,
      });
      assert.deepEqual(await exported(), records);
    });
  }

  it("imports all three eras with the key that the file names, and the sequencer continues from there", async () => {
    await load(VECTOR, {});
    ledger.go();
    const [id] = await ledger.seal(1);
    const keys = await listLedgerKeys(ledger.app);
    assert.deepEqual(keys.slice(-2).map(({ fromPosition }) => fromPosition), [0, records.length]);
    assert.deepEqual(keys.at(-2)?.publicKey, KEY);
    assert.notEqual(keys.at(-1)?.publicKey, KEY);
    const newest = JSON.parse((await exported()).at(-1)!);
    assert.deepEqual([newest.id, newest.chain_position], [id, records.length + 1]);
    const adoption = JSON.parse((await exported()).at(-2)!);
    const { category, details: { size, head, keys: adopted } } = adoption;
    const { hash_sha256 } = JSON.parse(records.at(-1)!);
    assert.deepEqual([category, size, head], ["ledger_adopted", records.length, hash_sha256]);
    assert.deepEqual(adopted, [{ public_key: KEY, from_position: 0 }]);
    assert.deepEqual([adoption.prev_hash, newest.prev_hash], [head, adoption.hash_sha256]);

    assert.deepEqual(ledger.troubles, [], "the Merkle log contains them");
    const watch = await watchChain(ledger.app);
    const { chain_intact, breaks, total } = await watch.catchUp();
    await watch.close();
    assert.deepEqual({ chain_intact, breaks, total }, {
      chain_intact: true,
      breaks: 0,
      total: records.length + 2,
    });
  });

  for (const { name, breaksAt, records } of faultyChains) {
    it(`refuses all of a ledger with ${name}, and names position ${breaksAt}`, async () => {
      const path = file(`[${records.join(",")}]`);
      await assert.rejects(load(path), {
        name: "ImportRefused",
        message: new RegExp(`at position ${breaksAt}: `),
      });
      assert.equal((await getHead(ledger.app)).size, 0);
    });
  }

  it("refuses signatures by a key that is not named, or by another one", async () => {
    const path = file(records.join("\n"));
    await assert.rejects(load(path, {}), /does not name the key: give it with --key/);
    await assert.rejects(load(path, { keys: ["ab".repeat(32)] }), /at position 5: .*another key/);
    await assert.rejects(load(VECTOR, { keys: ["ab".repeat(32)] }), /names other keys/);
  });

  it("refuses a file that ends too early, or holds something else", async () => {
    const whole = `[${records.join(",")}]`;
    await assert.rejects(load(file(whole.slice(0, -100))), /ends in the middle/);
    await assert.rejects(load(file(`{"total":52,"receipts":${whole}}`)), /51 receipts.* says 52/);
    await assert.rejects(load(file(`{"count":50,"receipts":${whole}}`)), /50 receipts, and has 51/);
    await assert.rejects(load(file(`{"from":9,"receipts":${whole}}`)), /begins at position 9/);
    for (const text of ["", "[]", "{}", "[1,2]", "nonsense", '{"receipts":{}}', "[[]]", '["x"]']) {
      await assert.rejects(load(file(text)), { name: "BadReceiptFile" }, text);
    }
    assert.equal((await getHead(ledger.app)).size, 0);
  });

  it("refuses a file with a receipt twice, and imports nothing of it", async () => {
    const chain = unsignedChain(4, (n) => n === 3 ? "receipt-1" : `receipt-${n}`);
    await assert.rejects(load(file(chain.join("\n"))), /twice: .*receipt-1/);
    assert.equal((await getHead(ledger.app)).size, 0);
    assert.equal((await load(file(unsignedChain(4).join("\n")))).total, 4);
  });

  it("refuses a file that is changed while it is read, and imports it the next time", async () => {
    const chain = unsignedChain(601);
    const path = file(chain.slice(0, 600).join("\n"));
    const onProgress: ImportOptions["onProgress"] = (step, done) => {
      if (step === "staged" && done === 600) writeFileSync(path, chain.join("\n"));
    };
    await assert.rejects(load(path, { onProgress }), /changed while it was read; import it again/);
    assert.equal((await getHead(ledger.app)).size, 0);
    assert.equal((await load(path)).total, 601);
  });

  it("imports into an empty ledger only", async () => {
    ledger.go();
    await ledger.seal(1);
    await ledger.pause();
    await assert.rejects(load(VECTOR), /has 2 receipts, and only an empty ledger/);
    assert.equal((await getHead(ledger.app)).size, 2);
  });

  it("continues where it was stopped, without verifying again, and does nothing the next time", async () => {
    const path = file(unsignedChain(1700).join("\n"));
    await assert.rejects(
      load(path, {
        onProgress: (step, done) => {
          if (step === "staged" && done >= 1000) throw new Error("killed");
        },
      }),
      /killed/,
    );
    assert.equal((await getHead(ledger.app)).size, 0);
    const steps = new Set<string>();
    assert.equal((await load(path, { onProgress: (step) => steps.add(step) })).total, 1700);
    assert.deepEqual([...steps], ["staged"]);
    assert.equal((await getHead(ledger.app)).size, 1700);
    assert.deepEqual(await load(path, {}), { total: 1700, keys: [], isNew: false });
  });

  it("starts over where another file was begun before", async () => {
    const other = file(unsignedChain(600, (n) => `other-${n}`).join("\n"));
    await assert.rejects(load(other, {
      onProgress: (step) => {
        if (step === "staged") throw new Error("killed");
      },
    }));
    assert.equal((await load(VECTOR, {})).total, records.length);
    assert.deepEqual((await getHead(ledger.app)).size, records.length);
  });

  it("verifies again where it continues with another key", async () => {
    const path = file(records.join("\n"));
    await assert.rejects(load(path, {
      keys: [KEY],
      onProgress: (step) => {
        if (step === "staged") throw new Error("killed");
      },
    }));
    await assert.rejects(load(path, { keys: ["ab".repeat(32)] }), /at position 5: .*another key/);
    assert.equal((await load(path)).total, records.length);
  });

  it("refuses requests under the id of an imported receipt", async () => {
    await load(VECTOR, {});
    for (const position of [0, 7, 20]) {
      const { id } = JSON.parse(records[position]!);
      await assert.rejects(requestSeal(ledger.app.asPlatform(), anyRequest({ id })), {
        name: "ReceiptConflict",
      });
    }
  });
});
