import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { loadSigningKey } from "../../../ledger/crypto/mod.ts";
import { program } from "../../_programs.ts";
import { testFolder } from "../../_run.ts";

describe("the file of a signing key", () => {
  it("is made once, for its owner alone, and nothing is left beside it", async () => {
    const folder = await testFolder();
    const path = join(folder, "ledger.key");
    const { publicKey } = loadSigningKey(path);
    assert.deepEqual(loadSigningKey(path).publicKey, publicKey);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ["ledger.key"]);
  });

  it("is never there in part, where the process ends or the disk is full while it is written", async () => {
    const path = join(await testFolder(), "ledger.key");
    const create = await program("test/ledger/crypto/_create_key.ts");
    const limited = ["-c", 'ulimit -f 0; exec "$0" "$@"', process.execPath, create, path];
    const { status, signal } = spawnSync("sh", limited);
    assert.ok(status !== 0 || signal, "the limit did not hold");
    assert.equal(loadSigningKey(path).publicKey.length, 32);
  });
});
