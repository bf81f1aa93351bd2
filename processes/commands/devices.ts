/** `npm run devices -- …`: lists devices and what they are to run, and decides about those that are quarantined. */
import { toLine } from "../../contract/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import { listScripts } from "../../store/catalogue/mod.ts";
import {
  type DevicePresence,
  type DeviceRecord,
  findDevice,
  getCommandSequence,
  getNewestHeartbeat,
  getStatementSequence,
  listDeviceCommands,
  listDevices,
  listPresence,
  quarantineDevice,
  releaseDevice,
} from "../../store/devices/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { UsageError } from "./_arguments.ts";
import { formatTable, runCommand } from "./_command.ts";
import { OPERATOR } from "../_operator.ts";
import { printSeen } from "./_seen.ts";

const USAGE = `Usage: npm run devices -- list
       npm run devices -- scripts
       npm run devices -- show <device id>
       npm run devices -- seen <device id>
       npm run devices -- quarantine <device id>
       npm run devices -- release <device id>

list: all devices. scripts: the released scripts of the catalogue. show: the newest commands of a device.
seen: the receipt which proves that a device was heard from.
quarantine: the device is given no commands until it is released; its statements are sealed all the same.
release: a person has found out why the device was quarantined, and lets it go on. Where its journal was, or may have
been, put back to an earlier state, it prints the command that the agent needs on the device. Both are sealed.`;

const MAX_COMMANDS = 50;
const VERBS = ["show", "seen", "quarantine", "release"];

await runCommand(USAGE, {}, async (openStore, { words: [verb, id, ...more] }) => {
  if (more.length > 0) throw new UsageError(`Unexpected argument: ${more.join(" ")}`);
  if (verb === "list" && id === undefined) return await list(openStore());
  if (verb === "scripts" && id === undefined) return await scripts(openStore());
  if (verb === undefined || !VERBS.includes(verb)) {
    throw new UsageError("Give one of list, scripts, show, seen, quarantine, release");
  }
  if (!/^DEV-[0-9a-f]{12}$/.test(id ?? "")) {
    throw new UsageError(
      `${verb} needs a device's id, DEV- and 12 hex characters; list shows them`,
    );
  }
  const store = openStore();
  const device = await findDevice(store.asPlatform(), id!);
  if (!device) throw new Error(`There is no device ${id}; list shows them`);
  const db = store.asTenant(device.tenant);
  if (verb === "show") return await show(db, device);
  if (verb === "seen") return await printSeen(store.forTenant(device.tenant), device.id);
  if (verb === "quarantine") return await isolate(db, device);
  await release(db, device);
});

async function list(store: Store): Promise<void> {
  const rows: string[][] = [];
  for (const tenant of await listTenants(store.asPlatform())) {
    const db = store.asTenant(tenant);
    const presence = new Map((await listPresence(db)).map((one) => [one.id, one]));
    for (const { id, name, platform, quarantine } of await listDevices(db)) {
      rows.push([id, name, tenant, platform, ...formatPresence(presence.get(id), quarantine)]);
    }
  }
  if (rows.length === 0) return console.log("There are no devices");
  console.log(formatTable(["id", "name", "tenant", "platform", "status", "last seen"], rows));
}

/** Returns the status of a device, and when it was heard from last. */
function formatPresence(
  presence: DevicePresence | undefined,
  quarantine: string | null,
): [status: string, lastSeen: string] {
  const { status = "offline", lastSeenAt = null } = presence ?? {};
  return [
    quarantine ? `${status} (${quarantine})` : status,
    lastSeenAt ? formatMinute(lastSeenAt) : "never",
  ];
}

function formatMinute(time: Date): string {
  return time.toISOString().slice(0, 16).replace("T", " ");
}

async function scripts(store: Store): Promise<void> {
  const released = await listScripts(store.asPlatform());
  const rows = released.map(({ name, version, origin, sha256 }) => [
    name,
    String(version),
    origin,
    sha256,
  ]);
  console.log(formatTable(["script", "version", "origin", "SHA-256"], rows));
}

async function show(db: Db, device: DeviceRecord): Promise<void> {
  const [presence] = await listPresence(db, device.id);
  const [status, lastSeen] = formatPresence(presence, device.quarantine);
  const name = toLine(device.name);
  console.log(`${device.id} ${name} of ${device.tenant} is ${status}, last seen: ${lastSeen}`);
  const commands = await listDeviceCommands(db, device.id, { limit: MAX_COMMANDS, outputBytes: 0 });
  const rows = commands.map(({ id, sequence, script, status, code, requestedBy, createdAt }) => [
    id,
    sequence === null ? "" : String(sequence),
    formatMinute(createdAt),
    script?.id ?? "own arguments",
    code ? `${status} (${code})` : status,
    requestedBy,
  ]);
  console.log(formatTable(["command", "number", "at", "script", "status", "asked by"], rows));
}

async function isolate(db: Db, device: DeviceRecord): Promise<void> {
  if (device.status === "quarantined") throw new Error(`${device.id} is quarantined already`);
  await db.transaction(async (trx) => {
    await quarantineDevice(trx, device.id, "by_operator");
    await requestSeal(trx, {
      category: "device_quarantined",
      actor: OPERATOR,
      subject: device.id,
      action: "quarantine",
      outcome: "by_operator",
    });
  });
  console.log(`Quarantined ${device.id}: it is given no commands until it is released`);
}

async function release(db: Db, { id, quarantine: why }: DeviceRecord): Promise<void> {
  if (why === "replaced") {
    throw new Error(`Cannot release ${id}: another device has its place; install the agent anew`);
  }
  const numbers = await db.transaction(async (trx) => {
    const newest = await getNewestHeartbeat(trx, id); // its end of the journal is forgotten next
    if (!await releaseDevice(trx, id)) throw new Error(`${id} is not quarantined`);
    const statement = await getStatementSequence(trx, id);
    const command = await getCommandSequence(trx, id);
    await requestSeal(trx, {
      category: "device_released",
      actor: OPERATOR,
      subject: id,
      action: "devices.release",
      outcome: "released",
      details: { quarantine: why, statement, command },
    });
    return { seq: Math.max(statement, newest?.journal.seq ?? 0), command };
  });
  console.log(`Released ${id}`);
  if (why !== "journal_rolled_back" && why !== "cloned") return;
  console.log(
    why === "cloned"
      ? "If its folder was put back from a backup, its journal must go on above what is known here, or it is quarantined " +
        "again. On the device, with the agent stopped:"
      : "Its agent runs nothing until its journal goes on above what is known here. On the device, with the agent stopped:",
  );
  console.log(`sealoop_agent.py release ${numbers.seq} ${numbers.command}`);
}
