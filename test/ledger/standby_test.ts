import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import {
  claimDataFolder,
  type Postgres,
  startPostgres,
  type Tree,
} from "../../runtime/embedded/mod.ts";
import { getHead, openSealer, runSequencer, type Sealer } from "../../ledger/mod.ts";
import { listen, migrate, openStore, type Store } from "../../store/mod.ts";
import { countStandbys } from "../../store/platform/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { eventually } from "../_time.ts";
import { anyRequest, serveLedger } from "./_ledger.ts";
import { letTestsSeal } from "../_servers.ts";

interface Server {
  readonly postgres: Postgres;
  stop(): Promise<void>;
}

async function start(folder: string, port: number): Promise<Server> {
  const tree: Tree = await claimDataFolder(folder);
  const postgres = await startPostgres(folder, port, tree);
  return {
    postgres,
    async stop() {
      await postgres.stop();
      await tree.stop();
      await tree.release();
    },
  };
}

/** Makes the data folder of a hot standby from that of a server that is stopped. */
async function copyAsStandby(folder: string, primary: Postgres): Promise<string> {
  const copy = join(await testFolder(), "standby");
  execFileSync("cp", ["-a", folder, copy]);
  const { port, username, password } = new URL(primary.superuserUrl);
  writeFileSync(join(copy, "postgres", "standby.signal"), "");
  writeFileSync(
    join(copy, "postgres", "postgresql.auto.conf"),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password}'\n`,
  );
  return copy;
}

/** Sets which standbys a primary waits for at each commit: `*`, or none. */
async function waitForStandbys({ postgres }: Server, names: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.superuserUrl });
  await client.connect();
  await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
  await client.query("SELECT pg_reload_conf()");
  await client.end();
}

describe("the public ledger on a read replica", () => {
  let primary: Server;
  let standby: Server;
  let app: Store;
  let sealer: Sealer;
  let ledger: Awaited<ReturnType<typeof serveLedger>>;
  const end = new AbortController();
  let waitsFor: string | null = null;
  let sequencer: Promise<void>;
  let primaryFolder: string;
  let standbyFolder: string;

  before(async () => {
    const [folder, port] = [await testFolder(), await freePort()];
    primaryFolder = folder;
    primary = await start(folder, port);
    const owner = openStore(primary.postgres.urls.owner, "owner");
    await migrate(owner);
    await letTestsSeal(owner);
    await owner.close();
    await primary.stop();
    const copy = await copyAsStandby(folder, primary.postgres);
    primary = await start(folder, port);
    standbyFolder = copy;
    standby = await start(copy, await freePort());

    app = openStore(primary.postgres.urls.worker, "worker");
    const store = openStore(primary.postgres.urls.sequencer, "sequencer");
    sequencer = runSequencer({
      store,
      keyFile: join(primaryFolder, "ledger.key"),
      signal: end.signal,
      requireSync: 1,
      onStandbys: (missing) => void (waitsFor = missing),
    }).finally(() => store.close());
    await waitForStandbys(primary, "*");
    sealer = await openSealer(app);
    ledger = await serveLedger({ urls: standby.postgres.urls });
  });
  after(async () => {
    await ledger?.stop();
    end.abort();
    await sequencer;
    await sealer?.close();
    await app?.close();
    await standby?.stop();
    await primary?.stop();
  });

  it("starts, and shows and verifies what is sealed on the primary", async () => {
    const { id } = await sealer.request(anyRequest());
    const { position } = await sealer.sealed(id);
    const chain = async () =>
      await (await fetch(`${ledger.address}/api/chain`)).json() as Record<string, unknown>;
    const { total, chain_intact } = await eventually(async () => {
      const now = await chain();
      return now.total === position + 1 && now.chain_intact !== null ? now : undefined;
    });
    assert.deepEqual({ total, chain_intact }, { total: position + 1, chain_intact: true });
    const answer = await (await fetch(`${ledger.address}/api/receipt/${id}`)).json();
    assert.equal((answer as Record<string, unknown>).found, true);
  });

  it("has each receipt before it counts as sealed, and requests wait while it is away", async () => {
    const counts = () => countStandbys(app.asPlatform());
    const until = (synchronous: number) =>
      eventually(async () => (await counts())?.synchronous === synchronous || undefined);
    await until(1);
    const { id: first } = await sealer.request(anyRequest());
    await sealer.sealed(first);
    assert.deepEqual(await counts(), { streaming: 1, synchronous: 1 });

    const { port } = standby.postgres;
    await standby.stop();
    await waitForStandbys(primary, ""); // as a failover manager does, so that the primary goes on alone
    await until(0);
    const { size } = await getHead(app);
    const { id: second } = await sealer.request(anyRequest());
    await eventually(() => Promise.resolve(waitsFor ?? undefined));
    assert.equal(waitsFor, "1 synchronous standbys, of which there are 0");
    assert.equal((await getHead(app)).size, size);
    await assert.rejects(sealer.sealed(second, { timeoutMs: 1 }), /is queued/);

    standby = await start(standbyFolder, port);
    await eventually(async () => (await counts())?.streaming === 1 || undefined);
    assert.equal((await getHead(app)).size, size, "an asynchronous standby is not enough");
    await waitForStandbys(primary, "ANY 1 (*)");
    const { position } = await sealer.sealed(second);
    assert.equal(position, size);
    assert.equal(waitsFor, null);
  });

  it("polls while the server refuses LISTEN", async () => {
    const store = openStore(standby.postgres.urls.ledger, "ledger");
    let looks = 0;
    const listener = await listen(store, ["sealoop_sealed"], {
      onNotify: () => assert.fail("A standby notifies nobody"),
      onConnect: () => void looks++,
    });
    assert.equal(listener.live, false);
    while (looks < 3) await sleep(20);
    await listener.close();
    await store.close();
  });
});
