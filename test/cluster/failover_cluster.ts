/**
 * Failovers of PostgreSQL with synchronous standbys, kept by Patroni, under many sealers: the primary and its Patroni are
 * killed at once, as with the loss of their machine.
 *
 *     FAILOVERS=2 SEALERS=64 npm run test:cluster -- test/cluster/failover_cluster.ts
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getHead } from "../../ledger/receipts/mod.ts";
import { openSealer, type Sealer } from "../../ledger/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { testFolder } from "../_run.ts";
import { testTemporal } from "../_servers.ts";
import { skipSuite } from "../remote/_skip.ts";
import { letSeal, makeDatabase } from "./_database.ts";
import { fetchPatroni } from "./_fetch.ts";
import { figures } from "./_figures.ts";
import { type HaProxy, startPrimaryProxy, unpackHaProxy } from "./_haproxy.ts";
import { type PatroniCluster, startPatroni } from "./_patroni.ts";
import { addMember, type Member, setUp, sharedSettings } from "./_platform.ts";

const FAILOVERS = Number(process.env.FAILOVERS ?? 10);
const SEALERS = Number(process.env.SEALERS ?? 256);
/** Time after which receipts are sealed again, from the loss of the primary. */
const MAX_AWAY_MS = 30_000;
const RECEIPT = {
  category: "chaos",
  actor: "test",
  subject: "none",
  action: "seal",
  outcome: "ok",
};

describe("a synchronous failover", function () {
  this.timeout(1_800_000);
  let patroni: PatroniCluster;
  let proxy: HaProxy;
  let sequencer: Member;
  let store: Store;
  let sealer: Sealer;

  before(async function () {
    const folder = await testFolder();
    const missing = await unpackHaProxy(folder);
    if (missing !== undefined) return skipSuite(this, missing);
    const environment = await fetchPatroni();
    if ("missing" in environment) return skipSuite(this, environment.missing);
    patroni = await startPatroni(environment.folder, join(folder, "patroni"), ["a", "b", "c"]);
    proxy = await startPrimaryProxy(folder, patroni.members);
    const at = new URL(proxy.urls.database!).host;
    const urls = await makeDatabase(at, patroni.superuser, join(patroni.programs, "psql"));
    const cluster = {
      database: { urls },
      temporal: await testTemporal(),
      settings: { ...sharedSettings(), SEALOOP_REQUIRE_SYNC: "1" },
    };
    await setUp(cluster);
    await letSeal(urls.owner);
    sequencer = await addMember("sequencer", cluster);
    await sequencer.start();
    store = openStore(urls.worker, "worker", 20);
    sealer = await openSealer(store);
  });
  after(async () => {
    await sealer?.close();
    await store?.close();
    await sequencer?.kill();
    await proxy?.stop();
    await patroni?.stop();
  });

  it("loses no acknowledged receipt, and seals again within 30 seconds", async () => {
    const acknowledged = new Map<string, { readonly position: number; readonly hash: string }>();
    let newest = 0;
    let isEnding = false;
    const seal = async () => {
      while (!isEnding) {
        const beganMs = performance.now();
        try {
          const { id } = await sealer.request(RECEIPT);
          const sealed = await sealer.sealed(id, { timeoutMs: 10_000 });
          acknowledged.set(id, sealed);
          newest = Math.max(newest, beganMs); // sealed although it was asked for so late
        } catch {
          await sleep(250); // nothing was promised
        }
      }
    };
    const sealing = Promise.all(Array.from({ length: SEALERS }, seal));
    const away: number[] = [];
    for (let n = 0; n < FAILOVERS; n++) {
      await sleep(3_000);
      const primary = await patroni.untilSynchronous();
      const lostMs = performance.now();
      await primary.kill();
      while (newest < lostMs) {
        if (performance.now() - lostMs > 120_000) {
          throw new Error("Nothing is sealed two minutes after a failover");
        }
        await sleep(50);
      }
      away.push(performance.now() - lostMs);
      primary.start();
    }
    isEnding = true;
    await sealing;
    const { size } = await getHead(store);
    const rows = await store.asPlatform().query<{ id: string; position: string; hash: Buffer }>(
      "SELECT id, position, hash FROM receipts WHERE id = ANY ($1)",
      [[...acknowledged.keys()]],
    );
    const stored = new Map(rows.map((row) => [row.id, row]));
    const lost = [...acknowledged].filter(([id, { position, hash }]) => {
      const row = stored.get(id);
      return Number(row?.position) !== position || row?.hash.toString("hex") !== hash;
    });
    figures(`${FAILOVERS} synchronous failovers under ${SEALERS} sealers`, {
      "until a receipt is sealed that was asked for after the loss, s": away.map((ms) =>
        (ms / 1_000).toFixed(1)
      ).join(", "),
      acknowledged: acknowledged.size,
      "in the ledger": size,
      lost: lost.length,
    });
    assert.deepEqual(lost, []);
    assert.ok(Math.max(...away) <= MAX_AWAY_MS, `${away}`);
  });
});
