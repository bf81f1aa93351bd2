/** What is to be seen of a run from outside. */
import { setTimeout as sleep } from "node:timers/promises";
import { exportReceipts } from "../../ledger/mod.ts";
import { getTicket, listEffects, type Store, listTicketEvents } from "../../store/mod.ts";

/** A receipt, as the public ledger gives it. */
export interface Receipt {
  readonly id: string;
  readonly category: string;
  readonly action: string;
  readonly outcome: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** All that is kept of a ticket. */
export async function storyOf(store: Store, ticketId: string) {
  const all = (await exportReceipts(store, { from: 0, to: 10_000 })).map(({ text }) =>
    JSON.parse(text)
  );
  const { remediations } = await listEffects(store.asPlatform(), 100);
  return {
    ticket: (await getTicket(store.asPlatform(), ticketId))!,
    /** Kinds of its events, oldest first. */
    moves: (await listTicketEvents(store.asPlatform(), ticketId)).map(({ kind }) => kind),
    /** Oldest first. */
    receipts: all.filter(({ subject }) => subject === ticketId) as Receipt[],
    /** Newest first. */
    effects: remediations.filter(({ ticket_id }) => ticket_id === ticketId),
  };
}

/** Looks until something is there, for two minutes at the most. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 120_000;
  for (let found = await look();; found = await look()) {
    if (found) return found;
    if (Date.now() > deadline) throw new Error("It did not come about in two minutes");
    await sleep(25);
  }
}
