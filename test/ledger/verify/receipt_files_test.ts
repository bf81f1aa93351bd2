import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import {
  exitCodeOf,
  NODE_PRIMITIVES,
  NOTHING_PINNED,
  openReceiptFile,
  parseTrust,
  readFileKeys,
  verifySource,
} from "../../../ledger/mod.ts";
import { checkFile, NOBLE } from "../../../ledger/page/checks/mod.ts";
import { collectKeys, type TrustedKey } from "../../../ledger/rules/mod.ts";
import { findPython } from "../../_python.ts";
import { testFolder } from "../../_run.ts";
import { trust, witnesses } from "../hostile/_genuine.ts";
import { formatVerifierKey } from "../../../ledger/log/mod.ts";
import { bytesOf, type FileVector, makeFileVectors, readFileVectors } from "./_receipt_files.ts";

describe("a file of receipts", () => {
  const vectors = readFileVectors();
  let folder: string;
  let python: string | undefined;
  before(async () => {
    folder = await testFolder();
    await mkdir(folder, { recursive: true });
    const found = await findPython("cryptography", "cryptography");
    if ("program" in found) python = found.program;
    else console.log(`    the verifier in Python is not run: ${found.missing}`);
  });

  /** Verifies as the command does. @returns its exit code */
  async function verifyByCommand(path: string): Promise<number> {
    try {
      const file = await openReceiptFile(path);
      try {
        const source = {
          named: file.envelope,
          keys: await readFileKeys(file, []),
          checkpoint: { note: undefined, verifierKey: undefined },
          total: () => file.total,
          contradiction: () => file.contradiction,
          batches: file.batches,
        };
        return exitCodeOf(await verifySource(source, NOTHING_PINNED, { threads: 1 }));
      } finally {
        await file.close();
      }
    } catch (error) {
      assert.match((error as Error).name, /BadReceiptFile|BadPublicKey/, String(error));
      return 2;
    }
  }

  let keys: readonly TrustedKey[] = [];
  for (const record of vectors.chain) keys = collectKeys(keys, record);

  function verifyByPage(bytes: Uint8Array): number {
    try {
      const { breaks, absent, fromStart } = checkFile(bytes, keys, NOBLE);
      return breaks.length > 0 ? 1 : absent.length > 0 || !fromStart ? 2 : 0;
    } catch (error) {
      assert.ok(error instanceof TypeError, String(error));
      return 2;
    }
  }

  const runPython = (...args: string[]): Promise<number> =>
    new Promise((resolve) => {
      const script = join(ROOT, "ledger", "verify_ledger.py");
      execFile(python!, ["-B", script, ...args], (error, _, stderr) => {
        assert.ok(!stderr.includes("Traceback"), stderr);
        resolve(Number(error?.code ?? 0));
      });
    });

  for (const vector of vectors.files) {
    it(`ends with ${vector.exit} for all verifiers: ${vector.name}`, async () => {
      const bytes = bytesOf(vector, vectors.chain);
      const path = join(folder, "receipts");
      await writeFile(path, bytes);
      const exits = {
        command: await verifyByCommand(path),
        page: verifyByPage(bytes),
        ...(python && { python: await runPython(path) }),
      };
      for (const [verifier, exit] of Object.entries(exits)) {
        assert.equal(exit, vector.exit, `${verifier}: ${JSON.stringify(exits)}`);
      }
    });
  }

  it("is of vectors that can be made again", () => {
    const made: FileVector[] = [...makeFileVectors().files];
    assert.deepEqual(vectors.files, JSON.parse(JSON.stringify(made)));
  });

  const witness = witnesses[0]!.note;
  const twice = [witness, { ...witness, name: "witness.example/other-name" }];
  const files: Readonly<Record<string, string>> = {
    "two witnesses of one key": JSON.stringify({
      ...trust.all,
      witnesses: twice.map((note) => formatVerifierKey(note)),
      witness_quorum: 2,
    }),
    "a field twice": `{"log_key":${JSON.stringify(trust.all!.log_key)},"min_era":1,"min_era":3}`,
    "a field of a key twice": JSON.stringify({ ledger_keys: trust.all!.ledger_keys })
      .replace('"from_position":0', '"from_position":9,"from_position":0'),
    "a mark of the order of bytes": `\ufeff${JSON.stringify(trust.all)}`,
    "another field in a key": JSON.stringify({ ledger_keys: trust.all!.ledger_keys })
      .replace('"from_position":0', '"from_position":0,"to_position":9'),
    "no keys in ledger_keys": JSON.stringify({ ...trust.all, ledger_keys: [] }),
    "a quorum of more": JSON.stringify({ ...trust.all, witness_quorum: 9 }),
    "text behind": `${JSON.stringify(trust.all)} {}`,
    "an array": "[]",
    "nothing": "",
  };
  for (const [name, text] of Object.entries(files)) {
    it(`is not judged by a trust file with ${name}`, async () => {
      assert.throws(() => parseTrust(text, NODE_PRIMITIVES), { name: "BadTrust" });
      assert.throws(() => parseTrust(text, NOBLE), { name: "BadTrust" });
      if (!python) return;
      const [receipts, pinned] = [join(folder, "good"), join(folder, "trust")];
      await writeFile(receipts, vectors.chain.join("\n"));
      await writeFile(pinned, text);
      assert.equal(await runPython(receipts, pinned), 2);
    });
  }
});
