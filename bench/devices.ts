/**
 * Heartbeats of 1,000 devices on loopback: how many a second, and how late each is answered while all devices beat, against
 * a Koa application that reads and answers the same bytes. Each is signed, cosigns the newest head, and gets the proof that
 * the log only grew; receipts are sealed meanwhile.
 *
 * Gateway, sequencer, bare server and PostgreSQL are processes of their own; the devices share this one.
 */
import { writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getPublishedCheckpoint, openSealer } from "../ledger/mod.ts";
import { openStore, type Store } from "../store/mod.ts";
import { addDevice } from "../store/devices/mod.ts";
import { INVENTORY, rawKey, TestDevice } from "../test/operations/devices/protocol/_devices.ts";
import { freePort, testFolder } from "../test/_run.ts";
import { type TestDatabase, testDatabase } from "../test/_servers.ts";
import { startBackgroundSealing } from "./_background_sealing.ts";
import { type Figure, measureInTurns, quantile } from "./_figures.ts";
import { startSequencer, stopSequencer } from "./_sealing.ts";
import { type Server, startServer } from "./_servers.ts";
import { ratePerSecond, rounds, runConcurrently, scaled } from "./_work.ts";

const ROUNDS = rounds(5);
const DEVICES = scaled(1_000);
const BEATS = scaled(2_000);
const CALLERS = 32;
const INTERVAL_MS = 60_000;
const WAIT_SECONDS = 25;

/** Measures heartbeats. */
export async function* run(): AsyncGenerator<Figure> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const worker = openStore(database.urls.worker, "worker", 4);
  const sealer = await openSealer(worker);
  const sequencer = await startSequencer(database.urls.sequencer, folder);
  const gateway = await startServer("processes/gateway.ts", [], {
    SEALOOP_DATA: folder,
    SEALOOP_DATABASE_GATEWAY_URL: database.urls.gateway,
    SEALOOP_GATEWAY_PORT: String(await freePort()),
    SEALOOP_LIMIT_HEARTBEATS: "1000000000",
  });
  const sealing = startBackgroundSealing(sealer);
  while (!await getPublishedCheckpoint(worker)) await sleep(100);
  const devices = await addDevices(database, gateway.address);
  const fleet = new Fleet(devices);
  let bare: Server | undefined;
  try {
    await runConcurrently(
      DEVICES,
      CALLERS,
      (n) => fleet.beat(gateway.address, n, { delta: INVENTORY }),
    );
    const answer = await fleet.beat(gateway.address, 0);
    const file = join(folder, "answer.json");
    await writeFile(file, answer.text);
    bare = await startServer("bench/_bare_koa_program.ts", [file]);
    yield await measureRate(fleet, gateway, bare);
    yield await measureLateness(fleet, gateway, bare);
    yield await measureWaits(fleet, gateway);
  } finally {
    fleet.close();
    await sealing.end(worker);
    await Promise.all([gateway.stop(), bare?.stop(), stopSequencer(sequencer)]);
    await sealer.close();
    await worker.close();
    await database.drop();
  }
}

async function measureRate(fleet: Fleet, gateway: Server, bare: Server): Promise<Figure> {
  const rate = ({ address }: Server) => () =>
    ratePerSecond(
      BEATS,
      () => runConcurrently(BEATS, CALLERS, (n) => fleet.beat(address, n % DEVICES)),
    );
  return {
    label: `heartbeats/s, ${CALLERS} at once`,
    ...await measureInTurns(ROUNDS, { baseline: rate(bare), platform: rate(gateway) }),
    baselineLabel: "Koa that reads and answers the same bytes",
  };
}

/** Heartbeats that do not wait, each device once a minute, at random. */
async function measureLateness(fleet: Fleet, gateway: Server, bare: Server): Promise<Figure> {
  const beats = Math.ceil(DEVICES / 2);
  const p95 = ({ address }: Server) => async () => {
    const times = await Promise.all(Array.from({ length: beats }, async (_, n) => {
      await sleep(Math.random() * INTERVAL_MS / 2);
      return (await fleet.beat(address, n)).ms;
    }));
    return quantile(times, 0.95);
  };
  return {
    label: `heartbeat, p95 of ${DEVICES.toLocaleString("en")} devices at 60 s, ms`,
    ...await measureInTurns(1, { baseline: p95(bare), platform: p95(gateway) }),
    baselineLabel: "Koa that reads and answers the same bytes",
    goal: "< 100",
  };
}

/** Heartbeats that wait, all devices at a time: what is added to the wait. */
async function measureWaits(fleet: Fleet, gateway: Server): Promise<Figure> {
  const added = await Promise.all(Array.from({ length: DEVICES }, async (_, n) => {
    await sleep(Math.random() * WAIT_SECONDS * 1_000);
    const times: number[] = [];
    for (let beat = 0; beat < 2; beat++) {
      times.push((await fleet.beat(gateway.address, n, { wait_seconds: WAIT_SECONDS })).ms);
    }
    return times.map((ms) => ms - WAIT_SECONDS * 1_000);
  }));
  return {
    label: `heartbeat that waits ${WAIT_SECONDS} s, p95 of ${
      DEVICES.toLocaleString("en")
    } at once, ms more`,
    platform: [quantile(added.flat(), 0.95)],
    goal: "< 100",
  };
}

/** Devices that follow the log. */
class Fleet {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  readonly #notes = new Map<number, string>();
  constructor(readonly devices: readonly TestDevice[]) {}

  /** Sends one heartbeat. @returns its answer, and the time from the request to the end of the answer */
  async beat(address: string, n: number, fields: Readonly<Record<string, unknown>> = {}) {
    const device = this.devices[n]!;
    const note = this.#notes.get(n);
    const head = note ? { log_size: Number(note.split("\n")[1]), ...device.cosign(note) } : {};
    const { body, headers } = device.heartbeat({ ...head, ...fields });
    const started = performance.now();
    const text = await this.#post(`${address}/v1/shield/devices/heartbeat`, body, headers);
    const ms = performance.now() - started;
    this.#notes.set(n, JSON.parse(text).log.checkpoint);
    return { text, ms };
  }

  #post(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request(url, { method: "POST", headers, agent: this.#agent }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => text += chunk).on("end", () => {
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`A heartbeat was answered ${response.statusCode}: ${text}`));
        });
      });
      sent.on("error", reject).end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function addDevices(database: TestDatabase, address: string): Promise<TestDevice[]> {
  const store: Store = openStore(database.urls.gateway, "gateway", 4);
  await database.executeAsSuperuser("SELECT ensure_tenant('acme')");
  const devices = await runConcurrently(DEVICES, 4, async () => {
    const device = new TestDevice(address, "acme");
    await addDevice(store.asTenant("acme"), {
      id: device.id,
      name: "bench",
      platform: "linux",
      publicKey: rawKey(device.key.publicKey),
      runnerKey: rawKey(device.runner.publicKey),
      receiptId: "0123456789abcdef",
      enrolment: {},
    });
    return device;
  });
  await store.close();
  return devices;
}
