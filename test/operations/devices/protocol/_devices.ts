/** A gateway with a ledger at work, and devices that the test plays itself. */
import { createHash, generateKeyPairSync, hash, type KeyObject, sign } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Platform } from "../../../../calls/mod.ts";
import { loadConfig } from "../../../../config.ts";
import {
  canonicalize,
  getPublishedCheckpoint,
  listLedgerKeys,
  type LogWriter,
  openLog,
  readLogSettings,
  runSequencer,
} from "../../../../ledger/mod.ts";
import { formatSignature } from "../../../../ledger/log/mod.ts";
import { parseNote } from "../../../../ledger/notes/mod.ts";
import { openStore, type Store } from "../../../../store/mod.ts";
import { addDevice } from "../../../../store/devices/mod.ts";
import { startGateway, type TestGateway } from "../../../api/_gateway.ts";
import { testFolder } from "../../../_run.ts";
import { eventually } from "../../../_time.ts";

/** A gateway whose ledger publishes its log. */
export interface DevicePlatform extends TestGateway {
  /** Folder of the ledger's keys. */
  readonly folder: string;
  /** Adds a device as an enrolment does. */
  addDevice(tenant?: string): Promise<TestDevice>;
  /** Waits until a log of at least so many receipts is published. @returns its size */
  untilPublished(size: number): Promise<number>;
  /** Waits until the newest heartbeat of one of the devices is being answered. @param holder by this process */
  untilWaiting(devices: readonly TestDevice[], holder?: number): Promise<void>;
}

/** Starts one. @param settings by the names of environment variables */
export async function startDevicePlatform(
  settings: Readonly<Record<string, string>> = {},
): Promise<DevicePlatform> {
  const folder = await testFolder();
  const gateway = await startGateway({ settings: { SEALOOP_DATA: folder, ...settings } });
  const sequencer = openStore(gateway.urls.sequencer, "sequencer", 4);
  const keyFile = join(folder, "ledger.key");
  const stop = new AbortController();
  const logEnd = new AbortController();
  let log: LogWriter | undefined;
  const running = runSequencer({
    store: sequencer,
    keyFile,
    signal: stop.signal,
    onStart() {
      log = openLog({
        ...readLogSettings(loadConfig({ SEALOOP_DATA: folder })),
        store: sequencer,
        signal: logEnd.signal,
        onTrouble: () => {},
      });
    },
    onLeaves: (...added) => log?.add(...added),
  });
  const { store } = gateway.platform;
  const platform: DevicePlatform = {
    ...gateway,
    folder,
    async addDevice(tenant = "acme") {
      await gateway.key({ tenant }); // makes the tenant
      return await addTestDevice(store, gateway.url, tenant);
    },
    async untilPublished(size) {
      for (;;) {
        const published = await getPublishedCheckpoint(store);
        if (published && published.size >= size) return published.size;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async untilWaiting(devices, holder) {
      const ids = devices.map(({ id }) => id);
      await eventually(async () =>
        await store.asTenant(devices[0]!.tenant).first(
          `SELECT device_id FROM device_states
           WHERE device_id = ANY($1) AND answer IS NULL AND holder = coalesce($2, holder)`,
          [ids, holder ?? null],
        )
      );
    },
    async stop() {
      stop.abort();
      await running;
      logEnd.abort();
      await log?.ended;
      await sequencer.close();
      await gateway.stop();
    },
  };
  await platform.untilPublished(1);
  return platform;
}

/** Adds a device of a tenant that is there. @param store of role `gateway` @param url of the gateway */
export async function addTestDevice(
  store: Store,
  url: string,
  tenant: string,
): Promise<TestDevice> {
  const device = new TestDevice(url, tenant);
  await addDevice(store.asTenant(tenant), {
    id: device.id,
    name: "web-1",
    platform: "linux",
    publicKey: rawKey(device.key.publicKey),
    runnerKey: rawKey(device.runner.publicKey),
    receiptId: "0123456789abcdef",
    enrolment: {},
  });
  return device;
}

/** Returns a public key, 64 hex. */
export const rawKey = (key: KeyObject) =>
  key.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");

/** The newest inventory of devices of tests. */
export const INVENTORY: Readonly<Record<string, unknown>> = {
  agent: { version: "1.0.0", sha256: "a".repeat(64), mode: "user", uid: 1000 },
  os: { id: "debian", version: "12", name: "Debian 12", kernel: "6.1", architecture: "x86_64" },
  cpu: { model: "test", count: 2, load_percent: 10 },
  memory: null,
};

/** A request, as it is sent. */
export interface DeviceRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An answer of the gateway. */
export interface DeviceAnswer {
  readonly status: number;
  readonly text: string;
  // deno-lint-ignore no-explicit-any -- the tests look into it
  readonly body: any;
}

/** A device without an agent. */
export class TestDevice {
  readonly key = generateKeyPairSync("ed25519");
  readonly runner = generateKeyPairSync("ed25519");
  readonly id: string;
  counter = 0;
  inventory = INVENTORY;
  journal = { seq: 1, head: "1".repeat(64) };
  approversVersion = 0;

  /** @param address of the gateway */
  constructor(readonly address: string, readonly tenant: string) {
    const raw = Buffer.from(rawKey(this.key.publicKey), "hex");
    this.id = `DEV-${hash("sha256", raw).slice(0, 12)}`;
  }

  /** Makes a signed heartbeat. @param fields besides or instead of the usual ones */
  heartbeat(fields: Readonly<Record<string, unknown>> = {}): DeviceRequest {
    const body = canonicalize({
      counter: ++this.counter,
      log_size: 1,
      journal: this.journal,
      approvers_version: this.approversVersion,
      inventory_sha256: hash("sha256", canonicalize(this.inventory)),
      wait_seconds: 0,
      ...fields,
    });
    return { body, headers: this.sign("/v1/shield/devices/heartbeat", body) };
  }

  /** Returns the headers that sign a request. */
  sign(path: string, body: string): Record<string, string> {
    const digest = `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
    const nonce = createHash("sha256").update(String(Math.random())).digest("hex").slice(0, 32);
    const input = '("@method" "@path" "@query" "content-digest")' +
      `;nonce="${nonce}";keyid="${this.id}";alg="ed25519";tag="sealoop-device"`;
    const base = `"@method": POST\n"@path": ${path}\n"@query": ?\n` +
      `"content-digest": ${digest}\n"@signature-params": ${input}`;
    return {
      "content-type": "application/json",
      "content-digest": digest,
      "signature-input": `sealoop=${input}`,
      signature: `sealoop=:${
        sign(null, Buffer.from(base), this.key.privateKey).toString("base64")
      }:`,
    };
  }

  /** Sends a heartbeat. @param address of another gateway @param signal ends the connection */
  async send(
    { body, headers }: DeviceRequest,
    { address = this.address, signal }: { address?: string; signal?: AbortSignal } = {},
  ): Promise<DeviceAnswer> {
    const answer = await fetch(`${address}/v1/shield/devices/heartbeat`, {
      method: "POST",
      headers,
      body,
      ...(signal ? { signal } : {}),
    });
    const text = await answer.text();
    return { status: answer.status, text, body: JSON.parse(text) };
  }

  /** Makes a heartbeat and sends it. */
  beat(fields: Readonly<Record<string, unknown>> = {}): Promise<DeviceAnswer> {
    return this.send(this.heartbeat(fields));
  }

  /** Returns the runner's cosignature under a note, and the note. */
  cosign(note: string, runner = this.runner): { checkpoint: string; cosignature: string } {
    const { text } = parseNote(note);
    const time = Buffer.alloc(8);
    time.writeBigUInt64BE(1_700_000_000n);
    const value = sign(
      null,
      Buffer.from(`cosignature/v1\ntime 1700000000\n${text}`),
      runner.privateKey,
    );
    const publicKey = Buffer.from(rawKey(runner.publicKey), "hex");
    const key = { name: this.id, publicKey, kind: "witness" as const };
    return { checkpoint: note, cosignature: formatSignature(key, Buffer.concat([time, value])) };
  }
}

/** Writes a device's folder as the agent's enrolment leaves it. @returns the folder */
export async function writeAgentState(
  { url, platform: { store } }: {
    readonly url: string;
    readonly platform: Pick<Platform, "store">;
  },
  { id, key, runner }: TestDevice,
  approvers = { signatures_required: 0, keys: [] as readonly string[] },
): Promise<string> {
  const folder = join(await testFolder(), "state");
  const [keys, published] = await Promise.all([
    listLedgerKeys(store),
    getPublishedCheckpoint(store),
  ]);
  const ledgerKeys = keys.map(({ publicKey, fromPosition, recoveryKey }) => ({
    public_key: publicKey,
    from_position: fromPosition,
    ...(recoveryKey === undefined ? {} : { recovery_key: recoveryKey }),
  }));
  const trust = {
    ledger_keys: ledgerKeys,
    log_key: published!.verifierKey,
    witnesses: [],
    quorum: 0,
    approvers,
  };
  const files: Readonly<Record<string, string>> = {
    "talker/device.key": seedOf(key.privateKey),
    "talker/server.json": canonicalize({ url, device_id: id, mode: "user" }),
    "runner/runner.key": seedOf(runner.privateKey),
    "runner/trust.json": canonicalize(trust),
    "runner/accepted.json": canonicalize({
      checkpoint: published!.note,
      keys: ledgerKeys,
      time: null,
    }),
    "runner/identity.json": canonicalize({
      device_id: id,
      org_id: "acme",
      mode: "user",
      server: url,
      talker_user: "sealoop",
    }),
  };
  await mkdir(join(folder, "talker"), { recursive: true });
  await mkdir(join(folder, "runner"));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), `${text}\n`, { mode: 0o600 });
  }
  return folder;
}

const seedOf = (key: KeyObject) =>
  key.export({ format: "der", type: "pkcs8" }).subarray(-32).toString("hex");
