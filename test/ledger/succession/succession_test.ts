import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import { checkRange, createTally, NOBLE, planChunks } from "../../../ledger/page/checks/mod.ts";
import { nameKey, proveKeys } from "../../../ledger/rules/mod.ts";
import {
  openReceiptFile,
  readFileKeys,
  verifyChain,
  verifyInParallel,
} from "../../../ledger/verify/mod.ts";
import { findPython } from "../../_python.ts";
import { testFolder } from "../../_run.ts";
import { FAULTY_CASES, type SuccessionCase, VALID_CASES } from "./_cases.ts";

/** The result of a verifier. */
interface Result {
  readonly breaksAt: number | undefined;
  readonly unproven: number | undefined;
}

/** Verifies as the command does, in parts. */
async function verifyInParts({ records, keys }: SuccessionCase): Promise<Result> {
  async function* batches() {
    for (let n = 0; n < records.length; n += 3) {
      yield records.slice(n, n + 3).map((text) => Buffer.from(text));
    }
  }
  const { firstBreaks, unproven } = await verifyInParallel(batches(), keys, { threads: 2 });
  return { breaksAt: firstBreaks[0]?.position, unproven };
}

/** Verifies as the page does: the receipts that introduce keys, and the chain in chunks. */
async function verifyAsPage({ records, keys }: SuccessionCase): Promise<Result> {
  const tally = createTally();
  tally.setKeys(await proveKeys(keys, records.length, async (n) => records[n], NOBLE));
  for (const range of planChunks(0, records.length, 4).reverse()) {
    const given = records.slice(Math.max(0, range.from - 1), range.to);
    tally.add(checkRange(given, range, keys, NOBLE));
  }
  const { breaks, unproven } = tally.summary();
  return { breaksAt: breaks[0]?.position, unproven };
}

describe("the succession of keys", () => {
  let folder: string;
  let python: string | undefined;
  before(async () => {
    folder = await testFolder();
    const found = await findPython("cryptography", "cryptography");
    python = "program" in found ? found.program : undefined;
  });

  /** Verifies with the published program. It knows the pinned keys. */
  async function verifyInPython({ records, keys }: SuccessionCase): Promise<Result> {
    const path = join(folder, "export.json");
    const named = JSON.stringify(keys.map(nameKey));
    writeFileSync(path, `{"keys":${named},"receipts":[${records.join()}]}`);
    const pinned = keys.filter(({ isPinned }) => isPinned).map(nameKey);
    const trust = join(folder, "sealoop.trust.json");
    writeFileSync(trust, JSON.stringify({ ledger_keys: pinned, min_era: 1 }));
    const known = pinned.length > 0 ? [trust] : [];
    const out = await new Promise<string>((resolve) => {
      const program = join(ROOT, "ledger", "verify_ledger.py");
      execFile(python!, [program, path, ...known], (_, stdout, stderr) => resolve(stdout + stderr));
    });
    const positionsOf = (lines: RegExp) => [...out.matchAll(lines)].map(([, n]) => Number(n));
    const breaks = positionsOf(/^position (\d+):/gm);
    assert.match(out, /^\d+ receipts, /m, out);
    return {
      breaksAt: breaks.length === 0 ? undefined : Math.min(...breaks),
      unproven: positionsOf(/^(?:unproven|Cannot verify:) from position (\d+)/gm)[0],
    };
  }

  const verifiers: Record<string, (chain: SuccessionCase) => Promise<Result>> = {
    "the command": verifyInParts,
    "the page": verifyAsPage,
    "the Python program": verifyInPython,
  };
  for (const [verifier, verify] of Object.entries(verifiers)) {
    describe(`in ${verifier}`, () => {
      before(function () {
        if (verify === verifyInPython && python === undefined) this.skip();
      });
      for (const chain of VALID_CASES) {
        it(`holds with ${chain.name}`, async () => {
          const { breaksAt, unproven } = await verify(chain);
          assert.deepEqual({ breaksAt, unproven }, {
            breaksAt: undefined,
            unproven: chain.unproven,
          });
        });
      }
      for (const chain of FAULTY_CASES) {
        it(`breaks at position ${chain.breaksAt} with ${chain.name}`, async () => {
          assert.equal((await verify(chain)).breaksAt, chain.breaksAt);
        });
      }
    });
  }

  it("is found in the receipts alone, where a file names no keys", async () => {
    for (const { name, records, keys } of VALID_CASES) {
      if (keys.some(({ isPinned }) => isPinned)) continue;
      const path = join(folder, "export.ndjson");
      writeFileSync(path, records.join("\n"));
      const file = await openReceiptFile(path);
      const found = await readFileKeys(file, []);
      const { breaks } = await verifyChain(records, found);
      await file.close();
      assert.deepEqual({ name, found, breaks }, { name, found: keys, breaks: [] });
    }
  });

  it("is not believed where none of its keys is one that the reader knows", async () => {
    const path = join(folder, "unknown.ndjson");
    writeFileSync(path, VALID_CASES[1]!.records.join("\n"));
    const file = await openReceiptFile(path);
    await assert.rejects(readFileKeys(file, ["ab".repeat(32)]), { name: "BadPublicKey" });
    await file.close();
  });
});
