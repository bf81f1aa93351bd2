/** Reads the state around a proposed action from the store, as the action's tenant sees it. */
import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { isThisHost } from "../../integrations/host/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import type { PolicyVersion } from "../../store/calls/mod.ts";
import { getImpact, IMPACT_DEPTH } from "../../store/cmdb/mod.ts";
import { namesActedOn } from "./_command.ts";
import { createLookup, type LookupResult } from "./_lookup.ts";
import type { KnownService, PlatformState, StoredArticle } from "./_state.ts";
import { DEFAULT_POLICY, POLICY, policyVersionName } from "./policy.ts";
import type { ValidateRequest } from "./types.ts";

type PolicyInForce = Pick<PlatformState, "policy" | "policyVersion">;
type Citation = NonNullable<NonNullable<ValidateRequest["context"]>["citations"]>[number];

/** PostgreSQL's codes of an undefined table and an undefined column. */
const UNDEFINED = new Set(["42P01", "42703"]);
/** Services that a request may name, and words that may be names. */
const MAX_SERVICES = 50;
/** Services acted on whose dependents are looked up. */
const MAX_REACHED = 8;
const MAX_NAMES = 400;
const MAX_NAME_LENGTH = 200;
const MAX_CITATIONS = 50;
const MAX_INCIDENT_LENGTH = 12_000;
const MAX_COMMAND_LENGTH = 4_000;

/** Makes a function that reads the state around a request. */
export function createStateReader(
  store: Store,
): (request: ValidateRequest, tenant: string) => Promise<PlatformState> {
  const lookups = new Map<string, ReturnType<typeof createLookup>>();
  const readPolicy = createPolicyReader();

  return async ({ incident, action, context }, tenant) => {
    const db = store.asTenant(tenant);
    const lookUp = lookups.get(tenant) ?? createLookup(db);
    lookups.set(tenant, lookUp);
    const target = nameOf(action?.target) ?? nameOf(context?.observed?.service);
    const ticketId = context?.ticket_id;
    const command = String(action?.command ?? "").slice(0, MAX_COMMAND_LENGTH);
    const text = `${incident.slice(0, MAX_INCIDENT_LENGTH)} ${command}`;
    const actedOn = namesActedOn(action ?? {});
    const names = [...(target === undefined ? [] : [target]), ...actedOn, ...namesIn(text)];
    const [found, articles] = await Promise.all([
      lookUp({
        names,
        target,
        actedOn: target === undefined ? actedOn : [...actedOn, target],
        ticketId,
      }),
      readArticles(db, context?.citations ?? []),
    ]);
    const services = servicesNamed(found, names);
    const known = services.find(({ name }) => name.toLowerCase() === target?.toLowerCase());
    const ticket = ticketId === undefined ? undefined : found.tickets.get(ticketId);
    const { reached, strangers } = resolveNames(target, actedOn, services, found.behind, known);
    const impacts = await Promise.all(
      reached.slice(0, MAX_REACHED).map(({ name }) => getImpact(db, name, IMPACT_DEPTH)),
    );
    const related = (side: "upstream" | "downstream") => {
      const all = new Set(
        impacts.flatMap((impact) => impact?.[side].map(({ name }) => name) ?? []),
      );
      return [...all].filter((name) => !reached.some((one) => one.name === name));
    };
    return {
      ...readPolicy(found.policy),
      freezes: found.freezes,
      target: known,
      reached,
      strangers: strangers.filter((name) =>
        !(context?.listed && name !== target || found.devices.has(name) ||
          tenant === PLATFORM_TENANT && isThisHost(name))
      ),
      dependents: reached.length > 0 ? related("downstream") : null,
      needs: related("upstream"),
      named: services.filter((service) => service !== known),
      ticket,
      repairs: {
        target: found.repairs.get(known?.name ?? ticket?.service ?? target ?? "") ?? 0,
        all: found.allRepairs,
      },
      articles,
    };
  };
}

/** Tells which services the names of an action stand for, and which of the names nothing stands behind. */
function resolveNames(
  target: string | undefined,
  actedOn: readonly string[],
  named: readonly KnownService[],
  behind: readonly KnownService[],
  known: KnownService | undefined,
): { reached: KnownService[]; strangers: string[] } {
  const reached = new Map(known ? [[known.name, known]] : []);
  const strangers = target !== undefined && !known ? [target] : [];
  for (const name of actedOn) {
    const isMeant = (one: KnownService) => one.name.toLowerCase() === name.toLowerCase();
    const restarted = behind.filter(({ restart }) =>
      restart?.some((word) => word === name || word === `${name}.service`)
    );
    const found = [...named.filter(isMeant), ...restarted];
    for (const one of found) reached.set(one.name, one);
    const isHost = behind.some(({ host }) => host === name);
    if (found.length === 0 && !isHost && name !== target) strangers.push(name);
  }
  const isHostOfSome = behind.some(({ host }) => host === target);
  return {
    reached: [...reached.values()],
    strangers: strangers.filter((name) => name !== target || !isHostOfSome),
  };
}

function nameOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" && value.length <= MAX_NAME_LENGTH
    ? value.trim()
    : undefined;
}

/** Returns words that may be names of services. */
function namesIn(text: string): string[] {
  const words = text.match(/[\p{L}\p{N}][\p{L}\p{N}._-]{2,62}/gu) ?? [];
  const names = words.map((word) => word.replace(/[._-]+$/, "").replace(/\.service$/, ""));
  return [...new Set(names)].slice(0, MAX_NAMES);
}

/** Returns those of the services found that a request names. */
function servicesNamed({ services }: LookupResult, names: readonly string[]): KnownService[] {
  if (services.size === 0) return [];
  const found = new Set(names.flatMap((name) => services.get(name.toLowerCase()) ?? []));
  return [...found].slice(0, MAX_SERVICES);
}

/** Makes a function that checks and names a stored policy. As a version never changes, the last result is kept. */
function createPolicyReader(): (stored: PolicyVersion | null) => PolicyInForce {
  let last: { readonly key: string; readonly result: PolicyInForce } | undefined;
  return (stored) => {
    const key = stored ? `${stored.version} ${stored.commitment}` : "";
    if (last?.key === key) return last.result;
    const policy = stored ? POLICY.parse(stored.policy) : DEFAULT_POLICY;
    const result = { policy, policyVersion: policyVersionName(stored) };
    last = { key, result };
    return result;
  };
}

const ARTICLES = `
  SELECT k.id, k.sha256, k.kind, k.title, k.content, coalesce(t.status = 'resolved', false) AS resolved
  FROM knowledge k LEFT JOIN tickets t ON k.kind = 'incident' AND t.id = k.id
  WHERE k.id = ANY ($1::text[]) LIMIT 200`;

/** Returns all stored versions of cited articles; null: there is no knowledge base. */
async function readArticles(
  db: Db,
  citations: readonly Citation[],
): Promise<StoredArticle[] | null> {
  if (citations.length === 0) return [];
  try {
    return await db.query<StoredArticle>(ARTICLES, [
      citations.slice(0, MAX_CITATIONS).map(({ id }) => id),
    ]);
  } catch (error) {
    if (UNDEFINED.has((error as { code?: string }).code ?? "")) return null;
    throw error;
  }
}
