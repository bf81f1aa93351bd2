import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  crewActivities,
  diagnosisDraftActivities,
} from "../../../activities/reasoning/crew/mod.ts";
import { reasoningActivities } from "../../../activities/reasoning/mod.ts";
import { loadConfig } from "../../../config.ts";
import type { AgentReport, Examination } from "../../../contract/domain/mod.ts";
import { EngineUnavailable } from "../../../judgement/engine/mod.ts";
import { putApproval } from "../../../store/approvals/mod.ts";
import { putService, type ServiceRecord } from "../../../store/cmdb/mod.ts";
import {
  addTicketEvent,
  endEffect,
  escalateTicket,
  intendEffect,
  openTicket,
  putProbeHistories,
  recordFindings,
  resolveTicket,
} from "../../../store/incidents/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { testFolder } from "../../_run.ts";
import { testDatabase } from "../../_servers.ts";
import { serveEngine } from "../../judgement/engine/_engine.ts";
import { anyRequest, startSealing } from "../../ledger/_ledger.ts";
import { anyApproval } from "../../store/_approvals.ts";
import { serviceNamed } from "../../store/_graph.ts";

/** A platform that agents look at. */
export interface Platform {
  readonly store: Store;
  /** Returns what a lookup says. */
  lookUp(tool: string, of?: string): Promise<string>;
  readonly crew: ReturnType<typeof crewActivities>;
  readonly pipeline: ReturnType<typeof reasoningActivities>;
  readonly review: ReturnType<typeof diagnosisDraftActivities>["reviewDiagnosis"];
  /** Returns what is reported of a service whose log has these errors. */
  reportLog(errors: readonly string[]): Promise<string>;
}

/** Platforms. */
export interface Platforms {
  /** Has nothing. */
  readonly empty: Platform;
  /** Has something of each kind. */
  readonly full: Platform;
  /** The same, whose engine is away. */
  readonly alone: Platform;
  /** Has one ticket, which is resolved, and many approvals. */
  readonly calm: Platform;
  close(): Promise<void>;
}

const SEAL_TIMEOUT_MS = 60_000;

/** A ticket by the last letter of its id. */
export const ticketId = (letter: string) => `INC-00000000000${letter}`;

/** Opens both platforms. */
export async function openPlatforms(): Promise<Platforms> {
  const sealing = await startSealing();
  const others = [await testDatabase(), await testDatabase()];
  const [emptyStore, calmStore] = others.map(({ urls }) => openStore(urls.worker, "worker", 4));
  const engine = await serveEngine(sealing.database.urls.engine);
  const config = loadConfig({ SEALOOP_DATA: await testFolder() });
  const platformOf = (store: Store, client: unknown): Platform => {
    const parts = { store, config, engine: client } as never;
    const pipeline = reasoningActivities(parts);
    return {
      store,
      pipeline,
      crew: crewActivities(parts),
      review: diagnosisDraftActivities(parts).reviewDiagnosis,
      async reportLog(errors) {
        const service = `logged-${errors.length}`;
        await mkdir(join(config.dataDir, "logs"), { recursive: true });
        await writeFile(join(config.dataDir, "logs", `${service}.log`), logOf(errors));
        return await report(this, "inspectLogs", [service]);
      },
      async lookUp(tool, of = "") {
        return (await pipeline.lookUp({ tool, arguments: { of } } as never)).says.join("\n");
      },
    };
  };
  const away = { classify: () => Promise.reject(new EngineUnavailable("away")) };
  await fill(sealing.app);
  await calm(calmStore!);
  await sealing.seal(2);
  const change = anyRequest({ id: "change", category: "config_change", subject: "policy" });
  await sealing.sealer.request(change);
  await sealing.sealer.sealed("change", { timeoutMs: SEAL_TIMEOUT_MS });
  await sealing.database.executeAsSuperuser(`
    UPDATE services SET status = 'down' WHERE name IN ('base', 'elsewhere-down');
    SET session_replication_role = replica;
    INSERT INTO ledger_breaks (position, failed_check, reason, last_seen_pass) VALUES (1, 'hash', 'x', 1);
    UPDATE receipts SET hash = decode(repeat('00', 32), 'hex') WHERE id = 'receipt-000001';`);
  return {
    empty: platformOf(emptyStore!, engine.client),
    calm: platformOf(calmStore!, engine.client),
    full: platformOf(sealing.app, engine.client),
    alone: platformOf(sealing.app, away),
    async close() {
      await engine.close();
      await sealing.stop();
      for (const [n, store] of [emptyStore, calmStore].entries()) {
        await store!.close();
        await others[n]!.drop();
      }
    },
  };
}

async function fill(store: Store): Promise<void> {
  const db = store.asPlatform();
  const put = (name: string, more: Partial<ServiceRecord> = {}, needs: string[] = []) =>
    putService(db, serviceNamed(name, needs, { type: "web", watched: false, ...more }));
  await put("up", { check: { command: ["true"] } });
  await put("down", { check: { command: ["false"] } });
  for (const name of ["unchecked", "base", "hub", "logged"]) await put(name);
  for (const name of ["elsewhere", "elsewhere-down"]) {
    await put(name, { check: { command: ["true"] }, atPlace: "another-place" });
  }
  await put("above", {}, ["base"]);
  await put("top", {}, ["above"]);
  for (let n = 1; n <= 9; n++) await put(`needs-hub-${n}`, {}, ["hub"]);
  await put("flapping");
  for (const [service, looks] of [["up", "uuu"], ["down", "dud"], ["flapping", "udu"]] as const) {
    const flapping = service === "flapping";
    await putProbeHistories(db, [{ service, looks, flapping, elapsedMs: null }]);
  }
  await recordFindings(
    db,
    [["down", "http"], ["logged", "log"]].map(([service, kind]) => ({
      fingerprint: randomBytes(8).toString("hex"),
      detector: "services",
      service: service!,
      host: null,
      kind: kind!,
      code: "status_500",
      severity: "high",
      root: "",
      summary: `${service} has more errors than usual`,
      detail: {},
      target: {},
    })),
  );
  await openTickets(store);
  for (
    const [n, state] of [undefined, "not_done", "unknown", "done", "done", "done", "done"].entries()
  ) {
    await repair(store, n, state as "done" | undefined);
  }
  await putApproval(db, anyApproval("APR-1"));
}

async function calm(store: Store): Promise<void> {
  const db = store.asPlatform();
  await open(store, "d", "calm");
  await resolveTicket(db, ticketId("d"), END);
  for (let n = 0; n < 20; n++) await putApproval(db, anyApproval(`APR-${n}`));
}

const END = { outcome: "sealed", resolution: "", receiptId: "0".repeat(16) };

async function open(store: Store, letter: string, service: string): Promise<void> {
  await openTicket(store.asPlatform(), {
    id: ticketId(letter),
    title: "It fails",
    description: "",
    severity: "high",
    phase: "ticketed",
    service,
    fingerprint: letter.repeat(16),
    workflowId: `loop-${letter}`,
    runId: "run",
    requestedBy: "test",
  });
}

/** Opens tickets: `a` without events, `b` without a cause, `c` with one, with people, `d` beside it, which is resolved. */
async function openTickets(store: Store): Promise<void> {
  const db = store.asPlatform();
  for (const letter of ["a", "b", "c"]) await open(store, letter, `ticketed-${letter}`);
  await open(store, "d", "ticketed-c");
  await resolveTicket(db, ticketId("d"), END);
  const diagnosed = (letter: string, cause: string | null) =>
    addTicketEvent(db, ticketId(letter), {
      key: "diagnosed",
      kind: "diagnosed",
      data: { symptom: "status_500", cause },
    });
  await diagnosed("b", null);
  await diagnosed("c", "disk_full");
  await escalateTicket(db, ticketId("c"), "0".repeat(16));
}

/** Services whose only repair ended so: by its state, and by what its check said after it. */
export const REPAIRED = [
  "under-way",
  "undone",
  "untold",
  "unchecked-repair",
  "healed",
  "unhealed",
  "waited",
] as const;

async function repair(store: Store, n: number, state: "done" | undefined): Promise<void> {
  const db = store.asPlatform();
  const name = REPAIRED[n]!;
  const effect = String(n).padStart(24, "0");
  const ticket_id = ticketId("b");
  await intendEffect(
    db,
    {
      id: effect,
      ticket_id,
      service: name,
      action_id: effect,
      step: "run",
      undoes: null,
      action: name === "healed" ? {} : { runbook: "restart-service" },
      action_sha256: effect,
      detail: {},
    },
    "run",
    { keyId: null, names: [] },
  );
  if (state === undefined) return;
  const code = name === "waited" ? "joined" : "exit_0";
  await endEffect(db, effect, state, { code, ok: state === "done" });
  const kind = { healed: "verified", unhealed: "verification_failed" }[name as string];
  if (kind === undefined) return;
  const data = { action_id: effect };
  await addTicketEvent(db, ticket_id, { key: `${n}/remediated-1`, kind: "remediated", data });
  await addTicketEvent(db, ticket_id, { key: `${n}/verified-1`, kind, data: {} });
}

/** Returns what an agent of the crew reports about services. */
export async function report(
  platform: Platform,
  agent: "inspectLogs" | "inspectMetrics" | "inspectTopology" | "inspectChanges",
  services: readonly string[],
  examined: readonly Examination[] = [],
): Promise<string> {
  return textOf(await platform.crew[agent]({ incident: "x", services, round: 1 }, examined));
}

/** Returns what a report says, and why it suspects services. */
export const textOf = ({ says, suspects, sources }: AgentReport) =>
  [...says, ...suspects.map(({ why }) => why), ...sources.map(({ title }) => title)].join("\n");

/** Returns a log of the platform's own form. */
function logOf(errors: readonly string[]): string {
  const time = new Date().toISOString();
  const lines = errors.map((msg) => ({ level: "error", time, msg }));
  return [{ level: "info", time, msg: "It works" }, ...lines]
    .map((line) => `${JSON.stringify(line)}\n`).join("");
}
