import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  claimDataFolder,
  type Postgres,
  startPostgres,
  type Tree,
} from "../../runtime/embedded/mod.ts";
import { openSealer, runSequencer, type Sealer } from "../../ledger/mod.ts";
import { listen, migrate, openStore, type Store } from "../../store/mod.ts";
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

describe("the public ledger on a read replica", () => {
  let primary: Server;
  let standby: Server;
  let app: Store;
  let sealer: Sealer;
  let ledger: Awaited<ReturnType<typeof serveLedger>>;
  const end = new AbortController();
  let sequencer: Promise<void>;

  before(async () => {
    const [folder, port] = [await testFolder(), await freePort()];
    primary = await start(folder, port);
    const owner = openStore(primary.postgres.urls.owner, "owner");
    await migrate(owner);
    await letTestsSeal(owner);
    await owner.close();
    await primary.stop();
    const copy = await copyAsStandby(folder, primary.postgres);
    primary = await start(folder, port);
    standby = await start(copy, await freePort());

    app = openStore(primary.postgres.urls.worker, "worker");
    const store = openStore(primary.postgres.urls.sequencer, "sequencer");
    sequencer = runSequencer({ store, keyFile: join(folder, "ledger.key"), signal: end.signal })
      .finally(() => store.close());
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
