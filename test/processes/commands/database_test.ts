import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import { ROOT } from "../../../config.ts";
import { claimDataFolder, startPostgres } from "../../../runtime/embedded/mod.ts";
import { FUNCTION_OWNERS, migrate, openStore, type Role, ROLES } from "../../../store/mod.ts";
import { program } from "../../_programs.ts";
import { freePort, testFolder } from "../../_run.ts";
import { testTemporal } from "../../_servers.ts";

const SETTING = /^-- (?:DATABASE_URL|SEALOOP_DATABASE_([A-Z]+)_URL)=(.+)$/gm;

describe("a PostgreSQL of the operator's own", () => {
  let tree: Awaited<ReturnType<typeof claimDataFolder>>;
  let server: Awaited<ReturnType<typeof startPostgres>>;
  let port: number;
  let folder: string;

  before(async () => {
    folder = await testFolder();
    tree = await claimDataFolder(folder);
    port = await freePort();
    server = await startPostgres(folder, port, tree);
  });
  after(async () => {
    await server?.stop();
    await tree?.release();
  });

  const run = async (command: string, words: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const file = await program(`processes/commands/${command}.ts`);
    const options = { cwd: ROOT, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } };
    const { stdout } = await promisify(execFile)(process.execPath, [file, ...words], options);
    return stdout;
  };

  /** Runs the statements of `npm run database -- roles` as a role. @returns the settings that they end with */
  async function makeRoles(adminUrl: string, name: string): Promise<Record<string, string>> {
    const file = await run("database", ["roles", "--at", `127.0.0.1:${port}`, "--name", name]);
    const admin = new pg.Client({ connectionString: adminUrl });
    await admin.connect();
    try {
      for (const statement of file.split("\n")) await admin.query(statement);
    } finally {
      await admin.end();
    }
    return Object.fromEntries(
      [...file.matchAll(SETTING)].map(([line, , url]) => [line.split("=")[0]!.slice(3), url!]),
    );
  }

  const settingOf = (role: Role) =>
    role === "owner" ? "DATABASE_URL" : `SEALOOP_DATABASE_${role.toUpperCase()}_URL`;

  it("gets its roles and its database from the printed statements, and the settings to use them", async () => {
    const settings = await makeRoles(server.superuserUrl, "operations");
    assert.deepEqual(Object.keys(settings), (Object.keys(ROLES) as Role[]).map(settingOf));
    for (const role of Object.keys(ROLES) as Role[]) {
      const store = openStore(settings[settingOf(role)]!, role, 2);
      if (role === "owner") await migrate(store);
      await store.asPlatform().query("SELECT FROM receipts");
      await store.close();
    }
  });

  it("is made by who is no superuser, brought up to date and checked by its owner, and set up with Temporal", async () => {
    const superuser = new pg.Client({ connectionString: server.superuserUrl });
    await superuser.connect();
    try {
      // As a cloud's administrator: the roles are made anew, and so are of nobody else.
      await superuser.query("DROP DATABASE operations");
      await superuser.query("DROP DATABASE IF EXISTS sealoop");
      for (const name of [...Object.values(ROLES), ...Object.values(FUNCTION_OWNERS)]) {
        await superuser.query(`DROP ROLE IF EXISTS ${name}`);
      }
      await superuser.query("CREATE ROLE cloud LOGIN CREATEROLE CREATEDB PASSWORD 'cloud'");
    } finally {
      await superuser.end();
    }
    const cloud = Object.assign(new URL(server.superuserUrl), {
      username: "cloud",
      password: "cloud",
      pathname: "/postgres",
    });
    const urls = await makeRoles(cloud.href, "managed");
    const { DATABASE_URL, SEALOOP_DATABASE_OPERATOR_URL } = urls as Record<string, string>;
    await assert.rejects(run("database", ["check"], { DATABASE_URL }), /has no tables yet/);
    assert.match(await run("database", ["migrate"], { DATABASE_URL }), /^Applied \d+ migrations/);
    assert.match(await run("database", ["migrate"], { DATABASE_URL }), /up to date/);
    assert.match(await run("database", ["check"], { DATABASE_URL }), /that of this version/);
    const { address } = await testTemporal();
    const env = {
      DATABASE_URL,
      SEALOOP_DATABASE_OPERATOR_URL,
      SEALOOP_DATA: folder,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: `set-up-${port}`,
    };
    const first = await run("setup", [], env);
    assert.match(first, /Recovery key in .*First key .*Temporal +namespace set-up-/s);
    const again = await run("setup", [], env);
    assert.match(again, /Database +up to date.*Temporal +namespace set-up-/s);
    assert.doesNotMatch(again, /First key|Recovery key/);
  });

  it("gets no name that would have to be quoted", async () => {
    await assert.rejects(run("database", ["roles", "--name", "a b"]), /lower-case letters/);
    await assert.rejects(run("database", []), /Give roles/);
    await assert.rejects(run("setup", ["now"]), /takes no words/);
  });
});
