/** Kills of agents, gateway, worker and PostgreSQL while commands run on devices, and what became of the commands. */
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCommandEnded } from "../../../contract/domain/mod.ts";
import { type DeviceCommandRecord, getDeviceCommand } from "../../../store/devices/mod.ts";
import { replaceTenantToken } from "../../../store/keys/mod.ts";
import { testFolder } from "../../_run.ts";
import { asSuperuser, giveKey } from "../../_superuser.ts";
import { type CompiledPlatform, startCompiledPlatform } from "../../workflows/_compiled.ts";
import { KilledDevice, SCRIPT, writeScript } from "./_killed_device.ts";
import { install } from "./_platform.ts";

/** Programs that are killed. */
export const KILLED = ["agent", "talker", "gateway", "worker", "PostgreSQL"] as const;
export type Killed = typeof KILLED[number];

const TENANT = "killed";
/** Commands end within this time, or they expire. */
const EXPIRY_SECONDS = 90;
/** Time that a command which has begun may take beyond its expiry: as its workflow waits, see `activities/devices`. */
const RUN_MS = 80_000;
/** Time that the end may take to be recorded, as the worker may just have been killed. */
const LATE_MS = 60_000;

/** A platform with devices whose processes are killed. */
export interface KilledPlatform extends Omit<CompiledPlatform, "kill"> {
  readonly devices: readonly KilledDevice[];
  kill(target: Killed): Promise<void>;
  /**
   * Orders a command, has a person approve it, and does not give up while the gateway is away.
   *
   * @returns its id, and when the approval was sent, by `performance.now()`
   */
  order(device: KilledDevice, seconds: string): Promise<{ id: string; approvedMs: number }>;
}

/** Starts one. @param say told what is restarted */
export async function startKilledPlatform(
  count: number,
  say: (text: string) => void = () => {},
): Promise<KilledPlatform> {
  const scripts = await testFolder();
  writeScript(scripts);
  const settings = {
    SEALOOP_SCRIPTS: scripts,
    SEALOOP_LIMIT_PARTNER: "1000000",
    SEALOOP_LIMIT_HEARTBEATS: "1000",
  };
  const platform = await startCompiledPlatform(say, settings, ["gateway"]);
  const url = `http://127.0.0.1:${platform.env.SEALOOP_GATEWAY_PORT}`;
  const { token, keys } = await prepareTenant(platform);

  /** Sends a request until it is answered. @param again statuses after which it is sent once more */
  async function call(key: string, path: string, body: object, again: readonly number[], id = "") {
    for (;;) {
      const answer = await fetch(url + path, {
        method: "POST",
        headers: {
          "x-api-key": key,
          "content-type": "application/json",
          ...(id ? { "idempotency-key": id } : {}),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(30_000),
      }).catch(() => undefined);
      if (answer && answer.status < 500 && !again.includes(answer.status)) {
        return { status: answer.status, body: await answer.json() as Record<string, unknown> };
      }
      await sleep(300);
    }
  }

  const devices: KilledDevice[] = [];
  for (let n = 0; n < count; n++) {
    const script = await fetchInstallScript(`${url}/v1/devices/agent/install/${token}`);
    const installed = await install(script);
    if (installed.code !== 0) throw new Error(`${installed.output}\n${script}`);
    devices.push(new KilledDevice(installed));
  }
  for (const device of devices) device.start();
  let orders = 0;
  return {
    ...platform,
    devices,
    async kill(target) {
      const device = devices[randomInt(devices.length)]!;
      if (target === "agent") device.kill();
      else if (target === "talker") device.killTalker();
      else await platform.kill(target);
    },
    async order(device, seconds) {
      const body = {
        script_id: SCRIPT,
        parameters: { file: device.file, seconds },
        expires_in_seconds: EXPIRY_SECONDS,
      };
      const path = `/v1/devices/${device.id}/command`;
      const key = `order-${++orders}-${device.id}`;
      const ordered = await call(keys.program, path, body, [409, 429], key);
      if (ordered.status !== 200) throw new Error(JSON.stringify(ordered));
      const { command_id, approval_id } = ordered.body;
      // The worker asks for the approval; an earlier try may have approved it already.
      const approvedMs = performance.now();
      const approved = await call(keys.person, `/v1/approvals/${approval_id}/approve`, {}, [404]);
      if (approved.status !== 200) say(`${command_id} ${JSON.stringify(approved)}`);
      if (![200, 409].includes(approved.status)) throw new Error(JSON.stringify(approved));
      return { id: String(command_id), approvedMs };
    },
    async close() {
      for (const device of devices) await device.stop();
      await platform.close();
    },
  };
}

/** Returns an install script, once the ledger has published its first checkpoint. */
async function fetchInstallScript(url: string): Promise<string> {
  for (;;) {
    const answer = await fetch(url);
    const text = await answer.text();
    if (answer.ok) return text;
    if (answer.status !== 503) throw new Error(text);
    await sleep(200);
  }
}

/** Makes a tenant with a program and a person who approves. */
async function prepareTenant({ store: { url }, superuserUrl }: CompiledPlatform) {
  const place = { url, superuserUrl, tenant: TENANT };
  const program = await giveKey(place, { tenant: TENANT, principal: "program" });
  const person = await giveKey(place, { tenant: TENANT, principal: "ann", mayApprove: true });
  const expiresAt = new Date(Date.now() + 86_400_000);
  const { token } = await replaceTenantToken(asSuperuser(place), expiresAt);
  return { token, keys: { program: program.key, person: person.key } };
}

/** Ends of all commands. */
export interface Outcome {
  readonly kills: ReadonlyMap<Killed, number>;
  /** Numbers of commands by how they ended. */
  readonly ends: ReadonlyMap<string, number>;
  /** Seconds from a command's order to its end. */
  readonly seconds: readonly number[];
  readonly faults: readonly string[];
}

/**
 * Kills at random while commands are ordered, and waits until all have ended.
 *
 * @param targets in the order in which they are killed
 * @param pauseMs longest time between two kills
 */
export async function killDuringCommands(
  platform: KilledPlatform,
  targets: readonly Killed[],
  { pauseMs, report = () => {} }: { pauseMs: number; report?: (text: string) => void },
): Promise<Outcome> {
  const { devices } = platform;
  const ids = new Map<string, KilledDevice>();
  const failures: string[] = [];
  let isOver = false;
  const ordering = devices.map(async (device) => {
    while (!isOver) {
      try {
        const { id } = await platform.order(device, `0.${randomInt(10)}`);
        ids.set(id, device);
      } catch (error) {
        failures.push(String(error));
      }
      await sleep(randomInt(1_500));
    }
  });
  const kills = new Map<Killed, number>();
  for (const target of targets) {
    await sleep(randomInt(pauseMs));
    await platform.kill(target);
    kills.set(target, (kills.get(target) ?? 0) + 1);
    report(`killed ${target}; ${ids.size} commands so far`);
  }
  isOver = true;
  await Promise.all(ordering);
  const commands = await untilEnded(platform, [...ids.keys()], report);
  const faults = commands.flatMap((command) => checkCommand(command, ids.get(command.id)!));
  const ends = new Map<string, number>();
  for (const { status, code } of commands) {
    const end = code ? `${status} (${code})` : status;
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  return {
    kills,
    ends,
    seconds: commands.map(({ createdAt, endedAt }) => (+endedAt! - +createdAt) / 1_000),
    faults: [...failures, ...faults, ...devices.flatMap(checkRuns)],
  };
}

/** Waits until commands have ended, or their time is long over. */
async function untilEnded(
  { store }: KilledPlatform,
  ids: readonly string[],
  report: (text: string) => void,
): Promise<DeviceCommandRecord[]> {
  const deadline = Date.now() + EXPIRY_SECONDS * 1_000 + RUN_MS + LATE_MS;
  const db = store.asTenant(TENANT);
  for (;;) {
    const found = await Promise.all(ids.map((id) => getDeviceCommand(db, id)));
    const commands = found.filter((command) => command !== undefined);
    const areOver = commands.length === ids.length &&
      commands.every(({ status }) => hasCommandEnded(status));
    if (areOver || Date.now() > deadline) return commands;
    const open = commands.filter(({ status }) => !hasCommandEnded(status));
    report(`waits for ${open.map(({ id, status }) => `${id} (${status})`).join(", ")}`);
    await sleep(2_000);
  }
}

/** Returns what is wrong with how a command ended. */
function checkCommand(command: DeviceCommandRecord, device: KilledDevice): string[] {
  const { id, status, endedAt, expires_at, begunAt } = command;
  const faults: string[] = [];
  const runs = device.runs().filter((one) => one === id).length;
  const lines = device.journal().filter(({ command_id }) => command_id === id);
  const hasStarted = lines.some(({ kind }) => kind === "started");
  if (!hasCommandEnded(status)) faults.push(`${id} is ${status}, long after its time`);
  const dueMs = Math.max(Date.parse(expires_at), begunAt ? +begunAt + RUN_MS : 0) + LATE_MS;
  if (endedAt && +endedAt > dueMs) faults.push(`${id} ended ${+endedAt - dueMs} ms too late`);
  if (status === "done" && runs !== 1) faults.push(`${id} is done and ran ${runs} times`);
  if (status !== "done" && status !== "unknown" && runs > 0) {
    faults.push(`${id} is ${status} and ran`);
  }
  if (status === "unknown" && !hasStarted) faults.push(`${id} is unknown and was never started`);
  const stated = lines.find(({ kind }) => kind === "ended")?.statement?.status;
  if (stated && stated !== status) faults.push(`${id} is ${status}, and its device says ${stated}`);
  return faults;
}

/** Returns which commands of a device ran more than once. */
function checkRuns(device: KilledDevice): string[] {
  const runs = device.runs();
  const twice = new Set(runs.filter((id, at) => runs.indexOf(id) !== at));
  return [...twice].map((id) => `${id} ran more than once`);
}
