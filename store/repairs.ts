import type { Queryable } from "./connection.ts";

/** A side effect on the world that the loop had, or tried to have. */
export interface Repair {
  readonly id: string;
  readonly ticket_id: string;
  readonly service: string;
  /** As it was decided; its hash is what an approval is for. */
  readonly action: Readonly<Record<string, unknown>>;
  readonly action_sha256: string;
  readonly state: "intended" | "done" | "not_done" | "unknown";
  readonly detail: Readonly<Record<string, unknown>>;
  readonly intended_at: string;
  readonly ended_at: string | null;
}

/** Which repairs to list. */
export interface RepairFilter {
  readonly service?: string;
  /** Intended at or after. */
  readonly since?: Date;
  readonly limit: number;
}

/** Repairs, newest first; and of all that fit, how many ended how, and the share of those ended that were done. */
export async function repairHistory(on: Queryable, { service, since, limit }: RepairFilter) {
  const wanted = () => {
    const query = on("effects");
    if (service !== undefined) query.where({ service });
    if (since) query.where("intended_at", ">=", since);
    return query;
  };
  const [rows, states] = await Promise.all([
    wanted().orderBy("intended_at", "desc").orderBy("id").limit(limit),
    wanted().select("state").count("* as n").groupBy("state"),
  ]);
  const by_state: Record<string, number> = Object.fromEntries(
    states.map(({ state, n }) => [String(state), Number(n)]),
  );
  const { done = 0, intended: _, ...others } = by_state;
  const ended = Object.values(others).reduce((sum, n) => sum + n, done);
  return {
    remediations: rows.map(fromRow),
    by_state,
    success_rate: ended === 0 ? null : done / ended,
  };
}

/** The repairs of a ticket, oldest first. */
export async function repairsOfTicket(on: Queryable, ticketId: string): Promise<Repair[]> {
  return (await on("effects").where({ ticket_id: ticketId }).orderBy("intended_at")).map(fromRow);
}

// deno-lint-ignore no-explicit-any -- a row as the driver gives it
function fromRow(row: any): Repair {
  const { id, ticket_id, service, action, action_sha256, state, detail } = row;
  return {
    ...{ id, ticket_id, service, action, action_sha256, state, detail },
    intended_at: row.intended_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}
