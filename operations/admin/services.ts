import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { probeBackend } from "../../judgement/detection/mod.ts";
import { PROCESS_NAMES, PROCESS_STATUSES } from "../../contract/domain/mod.ts";
import {
  getSealingTrouble,
  listProcesses,
  type ProcessRecord,
  type SealingTrouble,
} from "../../store/platform/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

const Service = z.object({
  name: z.string().describe(
    `${
      PROCESS_NAMES.join(", ")
    }, mcp-stdio, supervisor (\`npm start\`), signer (a thread of the sequencer that seals), ` +
      "postgresql or temporal",
  ),
  host: z.string().nullable().describe("Name of its machine; null: not known"),
  pid: z.number().int().nullable().describe("null: not known, as of a server elsewhere"),
  status: z.enum(PROCESS_STATUSES).describe(
    "silent: not heard of for 6 seconds, as it was killed, stopped or cut off; absent: none is there",
  ),
  since: Timestamp.nullable().describe(
    "By the database's clock; of a silent one, when it was heard of last",
  ),
  version: z.string().nullable(),
  restarts: z.number().int().nullable().describe("Since `npm start`; null: nobody counts them"),
  waits_for: z.string().nullable().describe("null: for nothing"),
  polls: z.record(z.string(), z.number().min(0)).nullable().describe(
    "Seconds since Temporal last saw a poll of it, by task queue: up to 60 while nothing is to do; null: it takes no work " +
      "from Temporal, or is silent",
  ),
});

type Service = z.output<typeof Service>;

/** All processes of the platform. */
export const serviceList = operation({
  name: "admin.services",
  group: "admin",
  summary: "List the platform's processes on all machines, and what each waits for",
  description:
    "Each process tells of itself every 2 seconds, by way of the database. One that is silent for an hour is no longer " +
    "listed. PostgreSQL and Temporal are asked now.",
  effect: "read",
  access: "admin",
  input: z.object({}),
  output: z.object({ services: z.array(Service) }),
  rest: { admin_services: "GET /v1/admin/services" },
  example: {
    input: {},
    output: {
      services: [{
        name: "worker",
        host: "ops-1",
        pid: 4711,
        status: "waiting",
        since: "2026-07-01T12:00:00.000Z",
        version: "0.1.0",
        restarts: 1,
        waits_for: "Temporal",
        polls: { itsm: 4.2, ledger: 31.5, media: 12 },
      }],
    },
  },
  async run(_, context) {
    const db = context.store.asPlatform();
    const [records, trouble, postgresql, temporal] = await Promise.all([
      listProcesses(db),
      getSealingTrouble(db),
      askServer("postgresql", context),
      askServer("temporal", context),
    ]);
    const listed = records.filter(({ name }) => name !== "postgresql" && name !== "temporal");
    const missing = PROCESS_NAMES.filter((name) => !listed.some((one) => one.name === name));
    return {
      services: [
        ...listed.map(toService),
        ...missing.map(absent),
        describeSigner(listed, trouble),
        ...[postgresql, temporal].map((server) => joinServer(server, records)),
      ],
    };
  },
});

function toService({ id: _, waitsFor, since, ...record }: ProcessRecord): Service {
  return { ...record, since: since.toISOString(), waits_for: waitsFor };
}

function absent(name: string): Service {
  const unknown = { host: null, pid: null, since: null, version: null, restarts: null };
  return { ...unknown, name, status: "absent", waits_for: null, polls: null };
}

/** Describes the thread that signs, which lives in the one sequencer that seals. */
function describeSigner(
  processes: readonly ProcessRecord[],
  trouble: SealingTrouble | undefined,
): Service {
  const sequencers = processes.filter(({ name, status }) =>
    name === "sequencer" && (status === "running" || status === "waiting")
  );
  if (trouble?.held && sequencers.length > 0) {
    const waits_for = `the operator, as sealing is held: ${trouble.reason}`;
    return { ...absent("signer"), status: "waiting", waits_for };
  }
  const sealing = sequencers.find(({ status }) => status === "running");
  return sealing ? { ...toService(sealing), name: "signer" } : absent("signer");
}

/** Answer of a server to the question for its version. */
interface ServerAnswer {
  readonly name: "postgresql" | "temporal";
  /** Undefined: it does not answer. */
  readonly version: string | undefined;
}

async function askServer(name: ServerAnswer["name"], context: Context): Promise<ServerAnswer> {
  const { detail } = await probeBackend(name, context);
  return { name, version: detail ? String(detail.version) : undefined };
}

/** Joins what a server answered with what `npm start` tells of it, where that keeps it. */
function joinServer({ name, version }: ServerAnswer, processes: readonly ProcessRecord[]): Service {
  const record = processes.find((one) => one.name === name && one.status !== "silent");
  const known = record ? toService(record) : absent(name);
  if (version === undefined) return { ...known, status: "silent" };
  return { ...known, version, status: "running" };
}
