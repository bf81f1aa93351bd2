/** Faults of services at several places, each of which has to be repaired by its own place alone. */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import { ROOT } from "../config.ts";
import { TASK_QUEUE, WORKFLOW } from "../contract/domain/mod.ts";
import { type Service, stopManagedProcess } from "../integrations/host/mod.ts";
import { createServiceFinding } from "../judgement/detection/mod.ts";
import { exportReceipts, listLedgerKeys, loadSigningKey, verifyChain } from "../ledger/mod.ts";
import type { Store } from "../store/mod.ts";
import { getService } from "../store/cmdb/mod.ts";
import type { itsmLoop, itsmSweep } from "../workflows/mod.ts";

/** A place whose worker runs. */
export interface FaultyPlace {
  /** Its name. */
  readonly place: string;
  /** Data folder of its worker, which reads its services file there. */
  readonly folder: string;
  /** Port of its service at 127.0.0.1. */
  readonly port: number;
  /** Kills its worker with -9. */
  kill(): Promise<void>;
}

/** A platform, and its places. */
export interface PlacesPlatform {
  /** As role `worker`. */
  readonly store: Store;
  readonly client: Client;
  readonly places: readonly FaultyPlace[];
}

/** A fault, and what became of it. */
export interface PlaceFault {
  readonly place: string;
  readonly service: string;
  readonly seconds: number;
  /** Sentences on what was wrong; empty: nothing was. */
  readonly faults: readonly string[];
}

let sweeps = 0;

/**
 * Lets services fail at all places at once, again and again, and looks who repairs them: each its own place alone.
 *
 * @param count of faults of all places together
 * @param onFault called with each, as it has ended
 */
export async function breakPlaces(
  platform: PlacesPlatform,
  count: number,
  onFault: (fault: PlaceFault) => void = () => {},
): Promise<PlaceFault[]> {
  const { places } = platform;
  const all: PlaceFault[] = [];
  for (let round = 0; all.length < count; round++) {
    const broken = places.slice(0, count - all.length);
    for (const place of broken) await replaceService(place, round);
    const startedMs = performance.now();
    await sweep(platform);
    for (const place of broken) {
      const fault = await judgeFault(platform, place, serviceOf(place, round), startedMs);
      onFault(fault);
      all.push(fault);
    }
  }
  return all;
}

/** The end of an incident at a place that was lost. */
export interface LostPlace {
  /** From the kill to the end of the incident. */
  readonly seconds: number;
  readonly outcome: string;
  readonly reason: string | undefined;
  /** Sentences on what was wrong; empty: nothing was. */
  readonly faults: readonly string[];
}

/** Kills a place while one of its services is down, and looks that nobody repairs it elsewhere. */
export async function losePlace(platform: PlacesPlatform, lost: FaultyPlace): Promise<LostPlace> {
  const { client, store } = platform;
  const service = serviceOf(lost, "lost");
  await replaceService(lost, "lost");
  await sweep(platform); // it is repaired once, so that it is known
  await stopService(lost);
  await lost.kill();
  const startedMs = performance.now();
  const known = await getService(store.asPlatform(), service) as Service;
  const finding = await createServiceFinding(store, known, "refused");
  const { outcome, ticket_id } = await client.workflow.execute<typeof itsmLoop>(
    WORKFLOW.itsmLoop,
    {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    },
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  const row = await store.asPlatform().first<{ readonly reason: string }>(
    "SELECT data ->> 'reason' AS reason FROM ticket_events WHERE ticket_id = $1 AND kind = 'escalated'",
    [ticket_id],
  );
  const effects = await effectsOn(store, service);
  const faults = [
    ...(outcome === "escalated" ? [] : [`it ended ${outcome}`]),
    ...(effects.length === 1 ? [] : [`it was acted on ${effects.length} times`]),
    ...strangeMarks(platform, lost, effects),
  ];
  return { seconds, outcome, reason: row?.reason, faults };
}

/** Counts the acts that receipts tell, and finds those that don't name the place of their service, or don't verify. */
export async function judgeReceipts(
  { store, places }: PlacesPlatform,
): Promise<{ readonly acts: number; readonly faults: string[] }> {
  const receipts = await exportReceipts(store, { from: 0, to: 1_000_000 });
  const texts = receipts.map(({ text }) => text);
  const { breaks } = await verifyChain(texts, await listLedgerKeys(store));
  const faults = breaks.map(({ position, reason }) => `receipt ${position}: ${reason}`);
  const placeOf = new Map<string, string>();
  for (const { place, folder } of places) {
    const key = loadSigningKey(join(folder, "place.key")).publicKey.toString("hex");
    for (const { id } of await effectsOf(store, place)) placeOf.set(id, key);
  }
  let acts = 0;
  for (const text of texts) {
    const { details } = JSON.parse(text);
    const steps: readonly Act[] = Array.isArray(details?.steps) ? details.steps : [details ?? {}];
    for (const { effect_id, place, state } of steps) {
      const expected = placeOf.get(effect_id ?? "");
      if (!expected || place === undefined && state === undefined) continue;
      acts++;
      if (place !== expected) faults.push(`${effect_id} is said to be of ${place}`);
    }
  }
  return { acts, faults };
}

interface Act {
  readonly effect_id?: string;
  readonly place?: string;
  readonly state?: string;
}

const serviceOf = ({ place }: FaultyPlace, round: number | "lost") =>
  `shop-${place.split(".")[0]}-${round}`;
const folderOf = ({ folder }: FaultyPlace) => join(folder, "service");

/** Puts another service at the address of a place, which is down until the place starts it. */
async function replaceService(place: FaultyPlace, round: number | "lost"): Promise<void> {
  await stopService(place);
  const folder = folderOf(place);
  await mkdir(folder, { recursive: true });
  const program = join(ROOT, "integrations", "sandbox", "test_service.js");
  const name = serviceOf(place, round);
  const service = {
    name,
    type: "web",
    check: { http: `http://127.0.0.1:${place.port}/health` },
    restart: { process: { command: [process.execPath, program, String(place.port), folder] } },
  };
  await writeFile(join(place.folder, "current"), name);
  await writeFile(
    join(place.folder, "sealoop.services.yaml"),
    JSON.stringify({ services: [service] }),
  );
}

/** Stops the service of a place that runs now, if any does. */
export async function stopService({ folder }: Pick<FaultyPlace, "folder">): Promise<void> {
  const name = await readFile(join(folder, "current"), "utf8").catch(() => undefined);
  if (name !== undefined) await stopManagedProcess(folder, name);
}

/** Sweeps all places, and waits for the loops. */
async function sweep({ client }: PlacesPlatform): Promise<void> {
  await client.workflow.execute<typeof itsmSweep>(WORKFLOW.itsmSweep, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: `sweep-of-places-${++sweeps}`,
    args: ["key:chaos"],
  });
}

async function judgeFault(
  platform: PlacesPlatform,
  place: FaultyPlace,
  service: string,
  startedMs: number,
): Promise<PlaceFault> {
  const { client, store } = platform;
  const faults: string[] = [];
  const known = await getService(store.asPlatform(), service) as Service | undefined;
  const effects = await effectsOn(store, service);
  if (known?.place !== place.place) faults.push(`it is at ${known?.place}`);
  if (known) {
    const { fingerprint } = await createServiceFinding(store, known, "refused");
    const run = client.workflow.getHandle<typeof itsmLoop>(`loop-${fingerprint}`);
    const ended = await run.result().catch((error: Error) => ({ outcome: error.message }));
    if (ended.outcome !== "sealed") faults.push(`its loop ended ${ended.outcome}`);
  }
  const states = effects.map(({ state }) => state).join();
  if (states !== "done") faults.push(`its acts are ${states || "none"}`);
  faults.push(...strangeMarks(platform, place, effects));
  const seconds = (performance.now() - startedMs) / 1_000;
  return { place: place.place, service, seconds, faults };
}

/** Finds acts that are not where they have to be: with their marks in the data folder of their place, and in no other. */
function strangeMarks(
  { places }: PlacesPlatform,
  { place }: FaultyPlace,
  effects: readonly { readonly id: string }[],
): string[] {
  return effects.flatMap(({ id }) => {
    const at = places.filter(({ folder }) => existsSync(join(folder, "effects", id)))
      .map((one) => one.place);
    return at.join() === place ? [] : [`its act was done at ${at.join(" and ") || "none of them"}`];
  });
}

async function effectsOn(store: Store, service: string) {
  return await store.asPlatform().query<{ readonly id: string; readonly state: string }>(
    "SELECT id, state FROM effects WHERE service = $1 ORDER BY intended_at",
    [service],
  );
}

async function effectsOf(store: Store, place: string) {
  const name = place.split(".")[0];
  return await store.asPlatform().query<{ readonly id: string }>(
    "SELECT id FROM effects WHERE service LIKE $1",
    [`shop-${name}-%`],
  );
}
