import type { LoopResult } from "../../contract/domain/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { eventually } from "../_time.ts";
import type { Store } from "../../store/mod.ts";
import {
  type EffectRecord,
  getTicket,
  listTicketEvents,
  type Ticket,
} from "../../store/incidents/mod.ts";

/** A receipt, as the public ledger prints it. */
export interface Receipt {
  readonly id: string;
  readonly category: string;
  readonly subject: string;
  readonly action: string;
  readonly outcome: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A ticket with everything that is stored and sealed about it. */
export interface TicketRecord {
  readonly ticket: Ticket;
  /** Kinds of its events, oldest first. */
  readonly events: readonly string[];
  /** Oldest first. Without that of the knowledge base, which comes some time after the end. */
  readonly receipts: readonly Receipt[];
  /** Newest first. */
  readonly effects: readonly EffectRecord[];
}

/** Reads the record of a ticket. */
export async function readTicketRecord(store: Store, ticketId: string): Promise<TicketRecord> {
  const db = store.asPlatform();
  const receipts = await readReceipts(store);
  return {
    ticket: (await getTicket(db, ticketId))!,
    events: (await listTicketEvents(db, ticketId)).map(({ kind }) => kind),
    receipts: receipts.filter(({ subject, category }) =>
      subject === ticketId && category !== "learning_receipt"
    ),
    effects: await db.query<EffectRecord>(
      "SELECT * FROM effects WHERE ticket_id = $1 ORDER BY intended_at DESC",
      [ticketId],
    ),
  };
}

/** Waits for the end of a loop, and reads the record of its ticket. */
export async function readLoopEnd(
  store: Store,
  run: { result(): Promise<LoopResult> },
): Promise<TicketRecord & { readonly result: LoopResult }> {
  const result = await run.result();
  return { result, ...await readTicketRecord(store, result.ticket_id!) };
}

/** Reads all receipts, oldest first. */
export async function readReceipts(store: Store): Promise<Receipt[]> {
  const exported = await exportReceipts(store, { from: 0, to: 10_000 });
  return exported.map(({ text }) => JSON.parse(text) as Receipt);
}

/** Reads the receipts about a subject once there are so many, oldest first. */
export async function receiptsAbout(
  store: Store,
  subject: string,
  count: number,
): Promise<Receipt[]> {
  return await eventually(async () => {
    const found = (await readReceipts(store)).filter((receipt) => receipt.subject === subject);
    return found.length >= count ? found : undefined;
  });
}

/** Lists the effects on a service, newest first. */
export async function listEffectsOn(store: Store, service: string): Promise<EffectRecord[]> {
  return await store.asPlatform().query<EffectRecord>(
    "SELECT * FROM effects WHERE service = $1 ORDER BY intended_at DESC",
    [service],
  );
}
