import {
  type AgentReport,
  type CrewScope,
  type Examination,
  say,
  type Source,
  type Text,
} from "../../../contract/domain/mod.ts";
import { listReceipts } from "../../../ledger/mod.ts";
import type { Db, Store } from "../../../store/mod.ts";
import { getRepairHistory, listTickets } from "../../../store/incidents/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import { describeRepair } from "../lookups/mod.ts";
import { factsOf } from "./_examination.ts";
import { MAX_LISTED } from "./_sources.ts";

/** Age of the oldest changes that may be the cause. */
const MAX_AGE_MS = 24 * 3_600_000;
/** Receipts of changes to policies, settings, runbooks and the knowledge base. */
const CHANGE_CATEGORIES = ["config_change", "runbook_change", "learning_receipt"];

/** A sentence with its source. */
interface Change {
  readonly text: Text;
  readonly source: Source;
}

/** Reports what was repaired and opened on the services within a day, and what was changed on the platform. */
export async function reportChanges(
  { store }: Pick<ActivityParts, "store">,
  { services, round }: CrewScope,
  examined: readonly Examination[],
): Promise<AgentReport> {
  const since = new Date(Date.now() - MAX_AGE_MS);
  const changes: Change[] = [];
  for (const name of services) {
    changes.push(...await listServiceChanges(store.db, name, since));
  }
  const says: Text[] = changes.map(({ text }) => text);
  if (changes.length === 0 && services.length > 0) {
    says.push(say`no repair or incident of them is on record within a day`);
  }
  // Changes to the platform concern no service, so they are the same in each round.
  const platformChanges = round === 1 ? await listPlatformChanges(store, since) : [];
  return {
    agent: "change",
    round,
    says: [...factsOf("change", examined), ...says, ...platformChanges.map(({ text }) => text)],
    sources: [...changes, ...platformChanges].map(({ source }) => source),
    suspects: [],
  };
}

async function listServiceChanges(db: Db, service: string, since: Date): Promise<Change[]> {
  const [{ remediations }, tickets] = await Promise.all([
    getRepairHistory(db, { service, since, limit: MAX_LISTED }),
    listTickets(db, { service, since, limit: MAX_LISTED }),
  ]);
  return [
    ...remediations.map((one) => ({
      text: say`repair ${
        one.runbook ?? say`without a runbook`
      } of ${service} on ${one.ticket_id}: ${describeRepair(one)}`,
      source: { id: one.ticket_id, kind: "ticket" as const, title: `Repair of ${service}` },
    })),
    ...tickets.map(({ ticket_id, title, status }) => ({
      text: say`${ticket_id} on ${service}: ${title} (${status})`,
      source: { id: ticket_id, kind: "ticket" as const, title },
    })),
  ];
}

/** Returns the newest sealed changes to the platform, newest first. */
async function listPlatformChanges(store: Store, since: Date): Promise<Change[]> {
  const pages = await Promise.all(
    CHANGE_CATEGORIES.map((category) => listReceipts(store, { limit: MAX_LISTED, category })),
  );
  const newest = pages.flat().sort((a, b) => b.position - a.position).slice(0, MAX_LISTED);
  return newest.flatMap(({ id, hash, text }) => {
    const { category, subject, timestamp } = JSON.parse(text) as Record<string, string>;
    if (new Date(timestamp!) < since) return [];
    const title = `${category!.replaceAll("_", " ")} of ${subject}`;
    return [{
      text: say`${title} at ${timestamp}`,
      source: { id, kind: "receipt" as const, title, sha256: hash },
    }];
  });
}
