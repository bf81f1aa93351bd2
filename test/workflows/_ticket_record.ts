/** What is to be seen of a run from outside. */
import { exportReceipts } from "../../ledger/mod.ts";
import { type EffectRecord, getTicket, listTicketEvents, type Store } from "../../store/mod.ts";

/** A receipt, as the public ledger gives it. */
export interface Receipt {
  readonly id: string;
  readonly category: string;
  readonly subject: string;
  readonly action: string;
  readonly outcome: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** All that is kept of a ticket. */
export async function readTicketRecord(store: Store, ticketId: string) {
  const all = (await exportReceipts(store, { from: 0, to: 10_000 })).map(({ text }) =>
    JSON.parse(text)
  );
  return {
    ticket: (await getTicket(store.asPlatform(), ticketId))!,
    /** Kinds of its events, oldest first. */
    moves: (await listTicketEvents(store.asPlatform(), ticketId)).map(({ kind }) => kind),
    /** Oldest first, without that of the knowledge base, which comes some time after the end. */
    receipts: all.filter(({ subject, category }) =>
      subject === ticketId && category !== "learning_receipt"
    ) as Receipt[],
    /** Newest first. */
    effects: await store.asPlatform().query(
      "SELECT * FROM effects WHERE ticket_id = $1 ORDER BY intended_at DESC",
      [ticketId],
    ) as EffectRecord[],
  };
}

/** Effects on a service, newest first. */
export async function effectsOn(store: Store, service: string): Promise<EffectRecord[]> {
  return await store.asPlatform().query(
    "SELECT * FROM effects WHERE service = $1 ORDER BY intended_at DESC",
    [service],
  ) as EffectRecord[];
}
