import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { claimDataFolder, startPostgres } from "../../../runtime/embedded/mod.ts";
import {
  exportReceipts,
  getHead,
  listLedgerKeys,
  openSealer,
  runSequencer,
  type Sealer,
  verifyChain,
} from "../../../ledger/mod.ts";
import { migrate, openStore, type Store } from "../../../store/mod.ts";
import { program } from "../../_programs.ts";
import { freePort, testFolder } from "../../_run.ts";
import { eventually } from "../../_time.ts";
import { sized } from "../../_size.ts";
import { letTestsSeal, type TestDatabase, testDatabase } from "../../_servers.ts";
import { anyRequest } from "../_ledger.ts";

describe("the sequencer", () => {
  let database: TestDatabase;
  let folder: string;
  let app: Store;
  let sequencer: Store;
  let sealer: Sealer;
  let stop: AbortController;
  let running: Promise<void>;

  before(async () => {
    [database, folder] = await Promise.all([testDatabase(), testFolder()]);
    app = openStore(database.urls.worker, "worker");
    sequencer = openStore(database.urls.sequencer, "sequencer");
    sealer = await openSealer(app);
    stop = new AbortController();
    running = runSequencer({
      store: sequencer,
      keyFile: join(folder, "ledger.key"),
      signal: stop.signal,
    });
  });
  after(async () => {
    stop.abort();
    await running;
    await sealer.close();
    await Promise.all([app.close(), sequencer.close()]);
    await database.drop();
  });

  it("makes a chain that verifies, of 256 callers at once", async () => {
    await Promise.all(Array.from({ length: 256 }, async () => {
      const { id } = await sealer.request(anyRequest());
      await sealer.sealed(id);
    }));
    const receipts = await exportReceipts(app, { from: 0, to: 10_000 });
    const { total, breaks } = await verifyChain(
      receipts.map(({ text }) => text),
      await listLedgerKeys(app),
    );
    assert.deepEqual({ total, breaks }, { total: (await getHead(app)).size, breaks: [] });
    assert.ok(total >= 256);
  });

  for (
    const sql of ["UPDATE receipts SET category = 'x'", "DELETE FROM receipts", "TRUNCATE receipts"]
  ) {
    it(`can rely on the database, which refuses ${sql.split(" ")[0]} on receipts to every role`, async () => {
      for (const url of Object.values(database.urls)) {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        await assert.rejects(client.query(sql), /append-only|permission denied/);
        await client.end();
      }
    });
  }

  it("shows the public ledger's role nothing private", async () => {
    const client = new pg.Client({ connectionString: database.urls.ledger });
    await client.connect();
    for (const table of ["seal_outbox", "seal_requests", "evidence", "keys", "tickets"]) {
      await assert.rejects(client.query(`SELECT * FROM ${table}`), /permission denied/);
    }
    await client.end();
  });

  it("is alone: a second one is refused", async () => {
    const second = openStore(database.urls.sequencer, "sequencer");
    const keyFile = join(folder, "ledger.key");
    const signal = AbortSignal.timeout(60_000);
    await assert.rejects(runSequencer({ store: second, keyFile, signal }), {
      name: "SequencerBusy",
    });
    await second.close();
  });

  it("is found out where a superuser edits a receipt", async () => {
    const client = new pg.Client({ connectionString: database.superuserUrl });
    await client.connect();
    await client.query("ALTER TABLE receipts DISABLE TRIGGER append_only");
    await client.query(
      `UPDATE receipts SET record = convert_to(replace(convert_from(record, 'UTF8'), 'subject"', 'subjekt"'), 'UTF8')
       WHERE position = 2`,
    );
    await client.end();
    const receipts = await exportReceipts(app, { from: 0, to: 10_000 });
    const { breaks } = await verifyChain(
      receipts.map(({ text }) => text),
      await listLedgerKeys(app),
    );
    assert.equal(breaks[0]?.position, 2);
  });
});

describe("a sequencer whose connections are lost", () => {
  it("ends with an error, and the next one takes over without a fork or a gap", async () => {
    const [{ urls, superuserUrl, drop }, folder] = await Promise.all([
      testDatabase(),
      testFolder(),
    ]);
    const app = openStore(urls.worker, "worker");
    const store = openStore(urls.sequencer, "sequencer");
    const sealer = await openSealer(app);
    const superuser = new pg.Client({ connectionString: superuserUrl });
    await superuser.connect();
    const stop = new AbortController();
    const start = async () => {
      let running: Promise<void> | undefined;
      await new Promise<void>((onStart, onError) => {
        const keyFile = join(folder, "ledger.key");
        running = runSequencer({ store, keyFile, signal: stop.signal, onStart });
        running.catch(onError);
      });
      return { running: running! };
    };
    /** Returns undefined until the server has ended the connection with the lock. */
    const restart = () =>
      start().catch((error) => {
        if (error.name !== "SequencerBusy") throw error;
        return undefined;
      });
    const requested: string[] = [];
    let { running } = await start();
    for (let round = 0; round < 5; round++) {
      const ended = assert.rejects(running);
      const more = await Promise.all(
        Array.from({ length: 300 }, () => sealer.request(anyRequest())),
      );
      requested.push(...more.map(({ id }) => id));
      await superuser.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'sealoop-sequencer' AND datname = current_database()`,
      );
      await ended;
      ({ running } = await eventually(restart));
    }
    await Promise.all(requested.map((id) => sealer.sealed(id)));
    const receipts = await exportReceipts(app, { from: 0, to: 10_000 });
    const { total, breaks } = await verifyChain(
      receipts.map(({ text }) => text),
      await listLedgerKeys(app),
    );
    assert.deepEqual({ total, breaks }, { total: requested.length + 1, breaks: [] });
    stop.abort();
    await running;
    await superuser.end();
    await sealer.close();
    await Promise.all([app.close(), store.close()]);
    await drop();
  });
});

describe("two sequencers without the lock", () => {
  it("can't fork the chain: the commits of one are refused", async () => {
    const [{ urls, drop }, folder] = await Promise.all([testDatabase(), testFolder()]);
    const app = openStore(urls.worker, "worker");
    const store = openStore(urls.sequencer, "sequencer");
    const sealer = await openSealer(app);
    const stop = new AbortController();
    const options = { store, keyFile: join(folder, "ledger.key"), signal: stop.signal };
    const both = [1, 2].map(() =>
      runSequencer({ ...options, withoutLock: true }).then(() => "ended", (error) => String(error))
    );
    let collided = false;
    Promise.race(both).then(() => collided = true);
    const requested: string[] = [];
    while (requested.length < 100 || !collided) {
      requested.push((await sealer.request(anyRequest())).id);
    }
    stop.abort();
    const ends = await Promise.all(both);
    assert.ok(ends.some((end) => /another sequencer is at work/.test(end)), ends.join());

    const alone = new AbortController();
    const running = runSequencer({ ...options, signal: alone.signal });
    await Promise.all(requested.map((id) => sealer.sealed(id)));
    const receipts = await exportReceipts(app, { from: 0, to: 1_000_000 });
    const { breaks } = await verifyChain(
      receipts.map(({ text }) => text),
      await listLedgerKeys(app),
    );
    assert.deepEqual(breaks, []);
    assert.equal(receipts.length, requested.length + 1);
    alone.abort();
    await running;
    await sealer.close();
    await Promise.all([app.close(), store.close()]);
    await drop();
  });
});

describe("a sequencer that is stopped, as by SIGSTOP or a cut network", () => {
  it("loses its lock by itself, another one seals, and it signs nothing once it goes on", async () => {
    const [{ urls, drop }, folder] = await Promise.all([testDatabase(), testFolder()]);
    const app = openStore(urls.worker, "worker");
    const store = openStore(urls.sequencer, "sequencer");
    const sealer = await openSealer(app);
    const keyFile = join(folder, "ledger.key");
    const args = [await program("test/ledger/seal/_sequencer_program.ts"), urls.sequencer, keyFile];
    const stopped = spawn(process.execPath, [...args, "2000"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: stopped.stdout })[Symbol.asyncIterator]();
    const stop = new AbortController();
    try {
      assert.equal((await lines.next()).value, "sealing");
      const { id: first } = await sealer.request(anyRequest());
      await sealer.sealed(first);
      stopped.kill("SIGSTOP");
      const stoppedAt = Date.now();
      const { id: second } = await sealer.request(anyRequest());
      const run = (): Promise<void> =>
        runSequencer({ store, keyFile, signal: stop.signal }).catch(async (error) => {
          if (error.name !== "SequencerBusy") throw error;
          await sleep(50);
          await run();
        });
      const running = run();
      await Promise.race([sealer.sealed(second), running]);
      assert.ok(Date.now() - stoppedAt < 30_000);

      stopped.kill("SIGCONT");
      const { id: third } = await sealer.request(anyRequest());
      assert.match((await lines.next()).value, /idle-session timeout|terminated|replaced/);
      await Promise.race([sealer.sealed(third), running]); // the journal was not taken from it
      const receipts = await exportReceipts(app, { from: 0, to: 100 });
      assert.deepEqual(receipts.slice(1).map(({ id }) => id), [first, second, third]);
      const texts = receipts.map(({ text }) => text);
      assert.deepEqual((await verifyChain(texts, await listLedgerKeys(app))).breaks, []);
      stop.abort();
      await running;
    } finally {
      stop.abort();
      stopped.kill("SIGKILL");
      await sealer.close();
      await Promise.all([app.close(), store.close()]);
      await drop();
    }
  });
});

describe("PostgreSQL killed with -9 while 64 callers seal", () => {
  it("has every acknowledged receipt once, and a whole chain", async () => {
    const data = await testFolder();
    const port = await freePort();
    const tree = await claimDataFolder(data);
    let server = await startPostgres(data, port, tree);
    const { urls } = server;
    const owner = openStore(urls.owner, "owner");
    await migrate(owner);
    await letTestsSeal(owner);
    const app = openStore(urls.worker, "worker", 20);
    const sequencer = openStore(urls.sequencer, "sequencer");
    const keyFile = join(data, "ledger.key");
    const stop = new AbortController();
    let running = runSequencer({ store: sequencer, keyFile, signal: stop.signal }).catch(() => {});
    const sealer = await openSealer(app);
    const acknowledged: string[] = [];
    let down = false;
    const callers = Array.from({ length: 64 }, async () => {
      while (!down) {
        const { id } = await sealer.request(anyRequest());
        acknowledged.push(id);
      }
    });
    while (acknowledged.length < sized(1_000)) await sleep(10);
    process.kill(server.process.pid, "SIGKILL");
    down = true;
    await Promise.allSettled(callers);
    await server.ended;
    await running;

    server = await startPostgres(data, port, tree);
    running = runSequencer({ store: sequencer, keyFile, signal: stop.signal });
    await Promise.all(acknowledged.map((id) => sealer.sealed(id)));
    const receipts = await exportReceipts(app, { from: 0, to: 1_000_000 });
    const { breaks } = await verifyChain(
      receipts.map(({ text }) => text),
      await listLedgerKeys(app),
    );
    assert.deepEqual(breaks, []);
    const ids = receipts.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(acknowledged.every((id) => ids.includes(id)));

    stop.abort();
    await running;
    await sealer.close();
    await Promise.all([app.close(), sequencer.close(), owner.close()]);
    await server.stop();
    await tree.stop();
    await tree.release();
  });
});
