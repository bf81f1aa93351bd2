import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import { ROOT } from "../../../config.ts";
import { claimDataFolder, startPostgres } from "../../../runtime/embedded/mod.ts";
import { migrate, openStore, type Role, ROLES } from "../../../store/mod.ts";
import { program } from "../../_programs.ts";
import { freePort, testFolder } from "../../_run.ts";

const SETTING = /^-- (?:DATABASE_URL|SEALOOP_DATABASE_([A-Z]+)_URL)=(.+)$/gm;

describe("npm run database -- roles", () => {
  const run = async (...words: string[]) => {
    const file = await program("processes/commands/database.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [file, ...words], { cwd: ROOT });
    return stdout;
  };

  it("prints what makes the roles and the database of a server, and the settings to use them", async () => {
    const folder = await testFolder();
    const tree = await claimDataFolder(folder);
    const port = await freePort();
    const server = await startPostgres(folder, port, tree);
    const admin = new pg.Client({ connectionString: server.superuserUrl });
    await admin.connect();
    try {
      for (const name of Object.values(ROLES)) await admin.query(`ALTER ROLE ${name} NOLOGIN`);
      const file = await run("roles", "--at", `127.0.0.1:${port}`, "--name", "operations");
      for (const statement of file.split("\n")) await admin.query(statement);
      const urls = [...file.matchAll(SETTING)].map(([, role = "OWNER", url]) =>
        [
          role.toLowerCase() as Role,
          url!,
        ] as const
      );
      assert.deepEqual(urls.map(([role]) => role), Object.keys(ROLES));
      for (const [role, url] of urls) {
        const store = openStore(url, role, 2);
        if (role === "owner") await migrate(store);
        await store.asPlatform().query("SELECT FROM receipts");
        await store.close();
      }
    } finally {
      await admin.end();
      await server.stop();
      await tree.release();
    }
  });

  it("refuses a name that would have to be quoted", async () => {
    await assert.rejects(run("roles", "--name", "a b"), /lower-case letters/);
    await assert.rejects(run(), /Give roles/);
  });
});
