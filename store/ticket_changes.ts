import type { Queryable } from "./connection.ts";

/** A move of a ticket. */
export interface TicketChange {
  /** Of the move; later moves have higher ones, but for those that were under way at the same time. */
  readonly id: number;
  readonly ticketId: string;
}

/** Moves of tickets after one, oldest first. @param limit > 0 */
export async function listTicketChanges(
  on: Queryable,
  after: number,
  limit: number,
): Promise<TicketChange[]> {
  const rows = await on("ticket_events").where("id", ">", after).orderBy("id").limit(limit)
    .select("id", "ticket_id");
  return rows.map(({ id, ticket_id }) => ({ id: Number(id), ticketId: ticket_id }));
}

/** Id of the newest move; 0 where there is none. */
export async function getNewestTicketChange(on: Queryable): Promise<number> {
  const row = await on("ticket_events").max("id as id").first();
  return Number(row?.id ?? 0);
}
