import type { Db } from "./connection.ts";

/** Notification channel of what operators are told at once: incidents that are opened, approvals that wait. */
export const NEWS = "sealoop_news";

/** News about a ticket or an approval. */
export interface News {
  readonly tenant: string;
  /** `INC-…` or `APR-…`. */
  readonly id: string;
}

/** Tells listeners of a ticket or an approval, once the transaction commits. */
export async function tellNews(trx: Db, id: string): Promise<void> {
  await trx.execute("SELECT pg_notify($1, $2)", [NEWS, JSON.stringify([trx.tenant, id])]);
}

/** Parses the payload of a notification. */
export function parseNews(payload: string): News {
  const [tenant, id] = JSON.parse(payload) as [string, string];
  return { tenant, id };
}
