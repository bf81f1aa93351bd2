import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LOOP_ACTOR } from "../../contract/domain/mod.ts";
import {
  actOnce,
  type ActOutcome,
  listLostProcesses,
  probe,
  type Service,
} from "../../integrations/host/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import { getService, getServiceGraph, recordProbeResults } from "../../store/cmdb/mod.ts";
import { listWatchedTenants } from "../../store/keys/mod.ts";
import { findRepairHold } from "../governance.ts";
import type { ActivityParts } from "../parts.ts";
import { openPlace, type PlaceSigner } from "../place_key.ts";

/** A service whose process the platform had run, and how it is now. */
export interface ReturnedService {
  readonly name: string;
  /** `up`; `held` by a stop or a maintenance window, and not started; else the code of its check or of its start. */
  readonly code: string;
}

/** A process that is gone, and its service. */
interface LostService {
  readonly service: Service;
  /** The act that had started the process. */
  readonly effectId: string;
  /** Cause of its end: the platform's stop, or nobody knows. */
  readonly stopped: "sealoop" | "unseen";
}

/** The parts that start a process. */
interface StartParts {
  readonly store: Store;
  readonly place: PlaceSigner;
  readonly dataDir: string;
}

/** Time that all of them have to become healthy. What is not by then is a fault, as the first sweep finds. */
const MAX_WAIT_MS = 30_000;
const PROBE_INTERVAL_MS = 100;

/**
 * Starts the processes again that ended together with the platform, each once those are healthy that it depends on, as the
 * services file says now. That is no repair: it restores what repairs had started. Each start is sealed.
 *
 * Must end before this worker takes work, so that no sweep sees them down. Safe to repeat, and to run in several workers.
 */
export async function bringBackServices(
  parts: Pick<ActivityParts, "config" | "store">,
): Promise<ReturnedService[]> {
  const { config: { dataDir }, store } = parts;
  const place = openPlace(parts);
  const records = listLostProcesses(dataDir);
  if (records.length === 0) return [];
  const deadline = Date.now() + MAX_WAIT_MS;
  const returned: ReturnedService[] = [];
  for (const tenant of await listWatchedTenants(store.db)) {
    const owner = store.forTenant(tenant);
    const lost = new Map<string, LostService>();
    for (const { name, effect_id, stopped } of records) {
      const service = await getService(owner.db, name) as Service | undefined;
      if (service?.origin !== "file" || !service.restart || !("process" in service.restart)) {
        continue;
      }
      lost.set(name, {
        service,
        effectId: effect_id,
        stopped: stopped === "sealoop" ? stopped : "unseen",
      });
    }
    if (lost.size === 0) continue;
    const { dependsOn } = await getServiceGraph(owner.db);
    await inOrder([...lost.keys()], dependsOn, async (name) => {
      const one = lost.get(name);
      if (!one) return;
      const code = await bringBack({ store: owner, place, dataDir }, one, deadline);
      returned.push({ name, code });
    });
  }
  return returned;
}

/** Does work for services, for each after all that it depends on, at once where they don't depend on each other. */
async function inOrder(
  names: readonly string[],
  dependsOn: ReadonlyMap<string, readonly string[]>,
  work: (name: string) => Promise<void>,
): Promise<void> {
  const begun = new Map<string, Promise<void>>();
  /** @param path services that wait for this one: a cycle ends there */
  function visit(name: string, path: readonly string[]): Promise<void> {
    const known = begun.get(name);
    if (known) return known;
    const inner = [...path, name];
    const needs = (dependsOn.get(name) ?? []).filter((need) => !inner.includes(need));
    const done = Promise.resolve()
      .then(() => Promise.all(needs.map((need) => visit(need, inner))))
      .then(() => work(name));
    begun.set(name, done);
    return done;
  }
  await Promise.all(names.map((name) => visit(name, [])));
}

/** @returns code of a {@linkcode ReturnedService} */
async function bringBack(
  { store, place, dataDir }: StartParts,
  { service, effectId, stopped }: LostService,
  deadline: number,
): Promise<string> {
  const { name, restart } = service;
  if (await findRepairHold(store, { service: name })) return "held";
  const id = hash(`${effectId}\nback`, 24);
  const start = { id, service: name, stopped, startedBy: effectId };
  await seal({ store, place }, start, { state: "intended" });
  const outcome = await actOnce({ dataDir, effectId: id, service: name, act: restart! });
  await seal({ store, place }, start, outcome);
  return outcome.code === "started" ? await waitForHealth(store, service, deadline) : outcome.code;
}

/** @returns `up`, or the code of the last probe */
async function waitForHealth(
  { db }: Store,
  { name, check }: Service,
  deadline: number,
): Promise<string> {
  if (!check) return "up";
  for (;;) {
    const { healthy, code } = await probe(check);
    if (healthy) {
      await recordProbeResults(db, [{ name, healthy }]);
      return "up";
    }
    if (Date.now() > deadline) return code;
    await sleep(PROBE_INTERVAL_MS);
  }
}

/** A start of a process, to be sealed. */
interface Start extends Pick<LostService, "stopped"> {
  readonly id: string;
  readonly service: string;
  /** The act that had started the process. */
  readonly startedBy: string;
}

/** Seals that a process is to be started, or what came of it. */
async function seal(
  { store, place }: Pick<StartParts, "store" | "place">,
  { id, service, stopped, startedBy }: Start,
  { state, code }: { readonly state: "intended" | ActOutcome["state"]; readonly code?: string },
): Promise<void> {
  const result = { effect_id: id, ...(code ? { code } : {}) };
  const signed = await place.sign(
    { action_id: startedBy, round: 0, step: 1 }, // no run's round
    { ...result, kind: ACTION, state },
  );
  await store.db.transaction((trx) =>
    requestSeal(trx, {
      id: hash(`${id}\n${state}`, 16),
      category: "service_brought_back",
      actor: LOOP_ACTOR,
      subject: id,
      action: ACTION,
      outcome: state,
      details: { ...result, stopped, ...signed },
      evidence: { service },
    })
  );
}

const ACTION = "services.bring_back";
const hash = (text: string, length: number) =>
  createHash("sha256").update(text).digest("hex").slice(0, length);
