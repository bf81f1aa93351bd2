/** What the store knows around a proposed action: policy, service graph, ticket, earlier repairs, cited articles. */
import { currentPolicy, impactOf, type Queryable, type Store } from "../../store/mod.ts";
import { DEFAULT_POLICY, POLICY, type Policy, versionName } from "./policy.ts";
import type { ValidateRequest } from "./types.ts";

/** A service of the graph. */
export interface KnownService {
  readonly name: string;
  readonly host: string;
  readonly status: "up" | "down" | "unknown";
  /** Seconds since it was last probed; null: never. */
  readonly checkedAgo: number | null;
}

/** A cited article as it is stored. */
export interface StoredArticle {
  readonly id: string;
  readonly sha256: string;
  readonly kind: "article" | "incident";
  readonly title: string;
  readonly content: string;
  /** An incident's ticket is there, and resolved. */
  readonly resolved: boolean;
}

/** Everything that the rails hold an action against. */
export interface Surroundings {
  readonly policy: Policy;
  readonly policyVersion: string;
  /** The service that the action's target names; undefined: the graph knows none by that name. */
  readonly target: KnownService | undefined;
  /** Services that need the target, directly or not; null where the graph doesn't know it. */
  readonly dependents: readonly string[] | null;
  /** Services that the target needs. */
  readonly needs: readonly string[];
  /** Services of the graph that the incident or the command names. */
  readonly named: readonly KnownService[];
  readonly ticket:
    | { readonly id: string; readonly service: string | null; readonly status: string }
    | undefined;
  readonly repairs: { readonly target: number; readonly all: number };
  /** Articles by id and hash; null: there is no knowledge base. */
  readonly articles: readonly StoredArticle[] | null;
}

const DEPTH = 4;
/** An undefined table or column. */
const UNDEFINED = new Set(["42P01", "42703"]);

/** Reads what is known, with a few small queries at once. */
export async function surroundingsOf(
  store: Store,
  request: ValidateRequest,
): Promise<Surroundings> {
  const on = store.knex;
  const target = nameOf(request.action?.target) ?? nameOf(request.context?.observed?.service);
  const text = `${request.incident.slice(0, 12_000)} ${
    String(request.action?.command ?? "").slice(0, 4_000)
  }`;
  const [policy, services, ticket, articles] = await Promise.all([
    readPolicy(on),
    servicesNamed(on, [...(target === undefined ? [] : [target]), ...namesIn(text)]),
    ticketOf(on, request.context?.ticket_id),
    articlesOf(on, request.context?.citations ?? []),
  ]);
  const known = services.find(({ name }) => name.toLowerCase() === target?.toLowerCase());
  const [impact, repairs] = await Promise.all([
    known ? impactOf(on, known.name, DEPTH) : undefined,
    repairsOf(on, known?.name ?? ticket?.service ?? target ?? ""),
  ]);
  return {
    ...policy,
    target: known,
    dependents: impact ? impact.downstream.map(({ name }) => name) : null,
    needs: impact ? impact.upstream.map(({ name }) => name) : [],
    named: services.filter((one) => one !== known),
    ticket,
    repairs,
    articles,
  };
}

function nameOf(said: unknown): string | undefined {
  return typeof said === "string" && said.trim() !== "" && said.length <= 200
    ? said.trim()
    : undefined;
}

/** Words that could be names of services, at most some hundred. */
function namesIn(text: string): string[] {
  return [
    ...new Set(
      text.match(/[\p{L}\p{N}][\p{L}\p{N}._-]{2,62}/gu)?.map((word) =>
        word.replace(/[._-]+$/, "").replace(/\.service$/, "")
      ) ?? [],
    ),
  ].slice(0, 400);
}

async function readPolicy(on: Queryable): Promise<{ policy: Policy; policyVersion: string }> {
  const stored = await currentPolicy(on);
  const policy = stored ? POLICY.parse(stored.policy) : DEFAULT_POLICY;
  return { policy, policyVersion: versionName(stored?.version ?? 0, policy) };
}

async function servicesNamed(on: Queryable, names: readonly string[]): Promise<KnownService[]> {
  if (names.length === 0) return [];
  const { rows } = await on.raw(
    `SELECT name, host, status, extract(epoch FROM now() - checked_at)::float AS "checkedAgo"
     FROM services WHERE name = ANY (?) OR lower(name) = ANY (?) LIMIT 50`,
    [[...names], names.map((name) => name.toLowerCase())],
  );
  return rows;
}

async function ticketOf(on: Queryable, id: string | undefined) {
  return id === undefined
    ? undefined
    : await on("tickets").where({ id }).first("id", "service", "status");
}

async function repairsOf(on: Queryable, service: string): Promise<{ target: number; all: number }> {
  const { rows: [row] } = await on.raw(
    `SELECT count(DISTINCT repair) FILTER (WHERE service = ?)::int AS target,
       count(DISTINCT repair)::int AS "all"
     FROM (SELECT service, coalesce(action_id, id) AS repair FROM effects
       WHERE intended_at > now() - interval '1 hour' AND state <> 'not_done' AND undoes IS NULL) e`,
    [service],
  );
  return row;
}

async function articlesOf(
  on: Queryable,
  cited: readonly { readonly id: string; readonly sha256: string }[],
): Promise<StoredArticle[] | null> {
  if (cited.length === 0) return [];
  try {
    const { rows } = await on.raw(
      `SELECT k.id, k.sha256, k.kind, k.title, k.content, coalesce(t.status = 'resolved', false) AS resolved
       FROM knowledge k LEFT JOIN tickets t ON k.kind = 'incident' AND t.id = k.id WHERE k.id = ANY (?) LIMIT 200`,
      [cited.slice(0, 50).map(({ id }) => id)],
    );
    return rows;
  } catch (error) {
    if (UNDEFINED.has((error as { code?: string }).code ?? "")) return null;
    throw error;
  }
}
