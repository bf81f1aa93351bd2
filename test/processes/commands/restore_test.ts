import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import { openRestore, type RestoreSetup } from "../../ledger/restore/_restore.ts";
import { program } from "../../_programs.ts";
import { testFolder } from "../../_run.ts";

describe("npm run backup and npm run restore", () => {
  let setup: RestoreSetup;
  beforeEach(async () => {
    setup = await openRestore(5);
  });
  afterEach(() => setup.close());

  /** Runs a command as npm does. */
  async function run(name: "backup" | "restore", ...args: readonly string[]) {
    const { folder, database } = setup.sealing;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [await program(`processes/commands/${name}.ts`), ...args],
      {
        cwd: ROOT,
        env: {
          ...process.env,
          SEALOOP_DATA: folder,
          DATABASE_URL: database.urls.owner,
          SEALOOP_DATABASE_SEQUENCER_URL: database.urls.sequencer,
          SEALOOP_DATABASE_BACKUP_URL: database.superuserUrl,
        },
        encoding: "utf8",
      },
    );
    return { status, text: stdout + stderr };
  }

  it("make a backup, and put back what a database has lost", async () => {
    const folder = join(await testFolder(), "backup");
    assert.deepEqual(await run("backup", folder), { status: 0, text: `Backed up to ${folder}\n` });
    assert.ok(existsSync(join(folder, "manifest")));
    const again = await run("backup", folder);
    assert.equal(again.status, 1);
    assert.match(again.text, /Nothing was backed up: .* is there already/);

    await setup.putBack(2);
    const without = await run("restore");
    assert.equal(without.status, 1);
    assert.match(without.text, /Nothing was restored: Receipts 2 to \d are in no export/);
    const { status, text } = await run("restore", await setup.writeExport(setup.texts));
    assert.equal(status, 0, text);
    assert.match(text, /Put back \d receipts; there are \d now/);
    assert.deepEqual(await setup.readChain(), setup.texts);
  });

  it("say so where nothing is missing, and what is wrong with the arguments", async () => {
    assert.match(
      (await run("restore")).text,
      /Nothing is missing: the database has all \d receipts/,
    );
    assert.equal((await run("restore", "--accept-clock")).status, 0);
    for (const args of [["--accept-clock", "file"], ["--new-ledger", "file"], ["--checkpint"]]) {
      const { status, text } = await run("restore", ...args);
      assert.deepEqual([status, /Usage: npm run restore/.test(text)], [1, true], text);
    }
    assert.match((await run("restore", "--new-ledger")).text, /Nothing is lost/);
    assert.match((await run("restore", "missing-file")).text, /There is no file .*missing-file/);
  });
});
