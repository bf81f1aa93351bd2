/** What the store knows around a proposed action: policy, service graph, ticket, earlier repairs, cited articles. */
import { getImpact, type PolicyRecord, type Db, type Store } from "../store/mod.ts";
import { type Glance, openGlances } from "./_glance.ts";
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
/** Most services that a request may name. */
const MOST_NAMED = 50;

/** Opens what reads the surroundings of requests. */
export function openSurroundings(
  store: Store,
): (request: ValidateRequest) => Promise<Surroundings> {
  const glance = openGlances(store);
  const policies = new Map<string, Pick<Surroundings, "policy" | "policyVersion">>();

  return async (request) => {
    const on = store.asPlatform();
    const target = nameOf(request.action?.target) ?? nameOf(request.context?.observed?.service);
    const ticketId = request.context?.ticket_id;
    const text = `${request.incident.slice(0, 12_000)} ${
      String(request.action?.command ?? "").slice(0, 4_000)
    }`;
    const names = [...(target === undefined ? [] : [target]), ...namesIn(text)];
    const [seen, articles] = await Promise.all([
      glance({ names, target, ticketId }),
      articlesOf(on, request.context?.citations ?? []),
    ]);
    const services = servicesOf(seen, names);
    const known = services.find(({ name }) => name.toLowerCase() === target?.toLowerCase());
    const ticket = ticketId === undefined ? undefined : seen.tickets.get(ticketId);
    const impact = known && await getImpact(on, known.name, DEPTH);
    return {
      ...policyOf(seen.policy, policies),
      target: known,
      dependents: impact ? impact.downstream.map(({ name }) => name) : null,
      needs: impact ? impact.upstream.map(({ name }) => name) : [],
      named: services.filter((one) => one !== known),
      ticket,
      repairs: {
        target: seen.repairs.get(known?.name ?? ticket?.service ?? target ?? "") ?? 0,
        all: seen.allRepairs,
      },
      articles,
    };
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

/** Of the services that were seen, those that a request names. */
function servicesOf({ services }: Glance, names: readonly string[]): KnownService[] {
  if (services.size === 0) return [];
  const found = new Set(names.flatMap((name) => services.get(name.toLowerCase()) ?? []));
  return [...found].slice(0, MOST_NAMED);
}

/** A version is never changed, so it is read and named once. */
function policyOf(
  stored: PolicyRecord | null,
  known: Map<string, Pick<Surroundings, "policy" | "policyVersion">>,
): Pick<Surroundings, "policy" | "policyVersion"> {
  const key = stored ? `${stored.version} ${stored.sha256}` : "";
  const there = known.get(key);
  if (there) return there;
  const policy = stored ? POLICY.parse(stored.policy) : DEFAULT_POLICY;
  const made = { policy, policyVersion: versionName(stored?.version ?? 0, policy) };
  known.clear();
  known.set(key, made);
  return made;
}

async function articlesOf(
  on: Db,
  cited: readonly { readonly id: string; readonly sha256: string }[],
): Promise<StoredArticle[] | null> {
  if (cited.length === 0) return [];
  try {
    return await on.query(
      `SELECT k.id, k.sha256, k.kind, k.title, k.content, coalesce(t.status = 'resolved', false) AS resolved
       FROM knowledge k LEFT JOIN tickets t ON k.kind = 'incident' AND t.id = k.id WHERE k.id = ANY ($1) LIMIT 200`,
      [cited.slice(0, 50).map(({ id }) => id)],
    );
  } catch (error) {
    if (UNDEFINED.has((error as { code?: string }).code ?? "")) return null;
    throw error;
  }
}
