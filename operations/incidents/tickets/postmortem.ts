import type { ComposedText } from "../../../contract/domain/mod.ts";
import { getImpact, IMPACT_DEPTH } from "../../../store/cmdb/mod.ts";
import type { Db, Store } from "../../../store/mod.ts";
import { listApprovalMoves } from "../../../store/approvals/mod.ts";
import {
  type FindingRecord,
  getFaultHistory,
  getFinding,
  getRepeatSightings,
  listObservations,
  listRepairsOfTicket,
  listTicketEvents,
  type Ticket,
} from "../../../store/incidents/mod.ts";
import { formatPostmortem, type PostmortemFacts } from "./postmortem_text.ts";
import { embeddedReceipt } from "./tickets.ts";

/**
 * Drafts the postmortem of a ticket's incident from its events, observations, repairs, approvals and receipts.
 *
 * @param ledgerUrl public address of the ledger, without a slash at the end
 * @returns Markdown
 */
export async function draftPostmortem(
  store: Store,
  ticket: Ticket,
  ledgerUrl: string,
): Promise<ComposedText> {
  return formatPostmortem(await readFacts(store, ticket, ledgerUrl));
}

/** Reads the facts that a ticket's postmortem and its story are written from. */
export async function readFacts(
  store: Store,
  ticket: Ticket,
  ledgerUrl: string,
): Promise<PostmortemFacts> {
  const db = store.db;
  const { ticket_id, service } = ticket;
  const [events, repairs, receipt, { fingerprint, ...earlier }, foundAgain, impact] = await Promise
    .all([
      listTicketEvents(db, ticket_id),
      listRepairsOfTicket(db, ticket_id),
      embeddedReceipt(store, ticket),
      getFaultHistory(db, ticket_id),
      getRepeatSightings(db, ticket_id),
      service === null ? undefined : getImpact(db, service, IMPACT_DEPTH),
    ]);
  const approvals = new Set(events.flatMap(({ data }) => data.approval_id ?? []).map(String));
  const moves = await Promise.all([...approvals].map((id) => listApprovalMoves(db, id)));
  const runs = new Set(events.flatMap(({ data }) => data.run_id ?? []).map(String));
  const observations = await Promise.all(
    [...runs].map(async (run) => [run, await listObservations(db, ticket_id, run)] as const),
  );
  return {
    ticket,
    events,
    repairs,
    moves: moves.flat(),
    observations: new Map(observations),
    finding: await findingOf(db, fingerprint, ticket),
    earlier,
    foundAgain,
    dependants: impact?.downstream.map(({ name }) => name),
    receipt,
    ledgerUrl,
  };
}

/** Returns the record of a ticket's fault; undefined: there is none, or the fault has come anew since. */
async function findingOf(
  db: Db,
  fingerprint: string | null,
  { opened_at }: Ticket,
): Promise<FindingRecord | undefined> {
  const finding = fingerprint === null ? undefined : await getFinding(db, fingerprint);
  if (!finding || finding.first_seen_at > opened_at) return undefined;
  const isOver = finding.cleared_at !== null && finding.cleared_at < opened_at;
  return isOver ? undefined : finding;
}
