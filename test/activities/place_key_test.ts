import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { enrolPlace } from "../../activities/mod.ts";
import { BadSetting, loadConfig, ROOT } from "../../config.ts";
import { loadSigningKey } from "../../ledger/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { program } from "../_programs.ts";
import { testFolder } from "../_run.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";

const PLACE = "n1.example.net";

describe("enrolPlace()", () => {
  let database: TestDatabase;
  let store: Store;
  let owner: Store;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.worker, "worker");
    owner = openStore(database.urls.owner, "owner", 2);
  });
  after(async () => {
    await Promise.all([store?.close(), owner?.close()]);
    await database?.drop();
  });

  const enrol = async (folder: string, place = PLACE) => {
    const config = loadConfig({ SEALOOP_DATA: folder, SEALOOP_PLACE: place });
    return (await enrolPlace({ config, store })).publicKey.toString("hex");
  };

  /** Lists the public fields of the requested receipts. */
  const requested = async () =>
    (await asSuperuser(owner).query<{ readonly payload: string }>(
      "SELECT payload FROM seal_outbox WHERE category = 'place_enrolled' ORDER BY seq",
    )).map(({ payload }) => payload);

  it("makes the key of a place once for all of its workers, and has it enrolled by one receipt", async () => {
    const folder = await testFolder();
    const keys = await Promise.all(Array.from({ length: 8 }, () => enrol(folder)));
    keys.push(await enrol(folder));
    assert.equal(new Set(keys).size, 1);
    const path = join(folder, "place.key");
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(loadSigningKey(path).publicKey.toString("hex"), keys[0]);
    const [receipt, ...others] = await requested();
    assert.deepEqual(others, []);
    const { subject, details } = JSON.parse(receipt!);
    assert.deepEqual([subject, details.place], [keys[0], keys[0]]);
    assert.deepEqual(Object.keys(details.commitments), ["name"]);
    assert.ok(!receipt!.includes(PLACE), "the name is private");
  });

  it("makes no key in place of one that is lost, and says what to do", async () => {
    const folder = await testFolder();
    const before = await requested();
    const isRefusal = (error: unknown) =>
      error instanceof BadSetting && /bring its key back/.test(error.message) &&
      /SEALOOP_PLACE/.test(error.message) &&
      error.message.includes(`npm run database -- forget place ${PLACE}`);
    await assert.rejects(enrol(folder), isRefusal);
    assert.throws(() => statSync(join(folder, "place.key")), /ENOENT/);

    await enrol(folder, "n2.example.net"); // a key of its own
    await assert.rejects(enrol(folder), isRefusal);
    assert.equal((await requested()).length, before.length + 1);
  });

  /** Runs `npm run database -- forget place`. */
  async function forget(place: string): Promise<string> {
    const command = await program("processes/commands/database.ts");
    const env = {
      PATH: process.env.PATH,
      DATABASE_URL: database.urls.owner,
      SEALOOP_DATA: await testFolder(),
    };
    const words = [command, "forget", "place", place];
    return (await promisify(execFile)(process.execPath, words, { cwd: ROOT, env })).stdout;
  }

  it("enrols another key once the one before is forgotten", async () => {
    const folder = await testFolder();
    const before = (await requested()).length;
    assert.match(await forget(PLACE), /The next worker that starts there enrols its key/);
    const key = await enrol(folder);
    assert.equal((await requested()).length, before + 1);
    assert.equal(JSON.parse((await requested()).at(-1)!).details.place, key);
    assert.match(await forget("n9.example.net"), /No key is enrolled/);
  });

  it("refuses a key that others could have read", async () => {
    const folder = await testFolder();
    await enrol(folder, "n3.example.net");
    const path = join(folder, "place.key");
    chmodSync(path, 0o644);
    await assert.rejects(enrol(folder, "n3.example.net"), /can be read by others/);
  });
});
