import { z } from "zod";
import type { Config } from "../../config.ts";
import { readCredential } from "../channels/mod.ts";
import { openRemoteClient, type RemoteClient } from "../remote/mod.ts";

/** Contents of a register of compliance. */
interface GrcRegister {
  readonly frameworks: { readonly total: number; readonly names: readonly string[] };
  readonly assessments: {
    readonly total: number;
    readonly first: readonly {
      readonly name: string;
      readonly framework: string | null;
      readonly status: string | null;
      /** Percent; null: it is not told. */
      readonly progress: number | null;
    }[];
  };
  readonly applied_controls: Register;
  readonly risk_scenarios: Register;
}

/** Entries of one kind. */
interface Register {
  readonly total: number;
  /** Counts of the first {@linkcode MAX_ENTRIES} by their state. */
  readonly by_state: Readonly<Record<string, number>>;
}

/** A register of compliance of the operator's. It is only read. */
export interface GrcClient {
  /** Returns how many entries of each kind it has. @throws {RemoteFailed} */
  count(): Promise<Readonly<Record<keyof GrcRegister, number>>>;
  /** @throws {RemoteFailed} */
  read(): Promise<GrcRegister>;
  /** As a client's. */
  pause(): string | undefined;
}

/** Entries of a kind that are read. */
const MAX_ENTRIES = 100;

const Name = z.string().max(2_000).transform((name) => name.slice(0, 200));
const State = z.string().max(100).nullish().transform((state) => state ?? "--");
const page = <Entry extends z.ZodType>(entry: Entry) =>
  z.object({ count: z.number().int().min(0), results: z.array(entry) });
const Named = page(z.object({ name: Name }));
const Assessments = page(z.object({
  name: Name,
  framework: z.object({ str: Name }).nullish(),
  status: State,
  progress: z.number().nullish(),
}));
const Controls = page(z.object({ status: State }));
const Risks = page(z.object({ treatment: State }));
const Count = page(z.unknown());

/**
 * Opens the client of a CISO Assistant, if its URL is set.
 *
 * @see https://intuitem.gitbook.io/ciso-assistant its REST API: lists by limit and offset, a personal access token
 */
export function openCisoAssistant(config: Config): GrcClient | undefined {
  const { SEALOOP_CISO_ASSISTANT_URL: url } = config.settings;
  if (url === undefined) return undefined;
  const client = openRemoteClient({
    system: "CISO Assistant",
    url,
    credential: () => ({ authorization: `Token ${readCredential(config, "ciso-assistant")}` }),
  });
  return { count: () => count(client), read: () => readAll(client), pause: client.pause };
}

async function list<Answer>(
  client: RemoteClient,
  kind: string,
  answer: z.ZodType<Answer>,
  limit = MAX_ENTRIES,
): Promise<Answer> {
  return await client.read({ method: "GET", path: `/api/${kind}/?limit=${limit}`, answer });
}

async function count(client: RemoteClient) {
  const of = async (kind: string) => (await list(client, kind, Count, 1)).count;
  const [frameworks, assessments, applied_controls, risk_scenarios] = await Promise.all([
    of("frameworks"),
    of("compliance-assessments"),
    of("applied-controls"),
    of("risk-scenarios"),
  ]);
  return { frameworks, assessments, applied_controls, risk_scenarios };
}

async function readAll(client: RemoteClient): Promise<GrcRegister> {
  const [frameworks, assessments, controls, risks] = await Promise.all([
    list(client, "frameworks", Named),
    list(client, "compliance-assessments", Assessments),
    list(client, "applied-controls", Controls),
    list(client, "risk-scenarios", Risks),
  ]);
  return {
    frameworks: { total: frameworks.count, names: frameworks.results.map(({ name }) => name) },
    assessments: {
      total: assessments.count,
      first: assessments.results.map(({ name, framework, status, progress }) => ({
        name,
        framework: framework?.str ?? null,
        status,
        progress: progress ?? null,
      })),
    },
    applied_controls: {
      total: controls.count,
      by_state: countBy(controls.results.map(({ status }) => status)),
    },
    risk_scenarios: {
      total: risks.count,
      by_state: countBy(risks.results.map(({ treatment }) => treatment)),
    },
  };
}

function countBy(states: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  return Object.fromEntries(counts);
}
