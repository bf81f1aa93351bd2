/** Figures over all tenants, for metrics: numbers alone. */
import type { PlatformFigures } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** Returns the figures. */
export async function getMetricFigures(db: Db): Promise<PlatformFigures> {
  const [ledger, counts] = await Promise.all([
    db.first(
      `SELECT (SELECT size FROM ledger_head) AS receipts,
         (SELECT count(*) FROM seal_outbox) AS waiting, (SELECT min(seq) FROM seal_outbox) AS oldest,
         (SELECT count(*) FROM seal_refusals) AS refused, EXISTS (SELECT FROM ledger_trouble WHERE held) AS held,
         (SELECT extract(epoch FROM now() - signed_at)::float8 FROM log_checkpoint) AS age,
         (SELECT size FROM log_checkpoint) AS size`,
    ),
    db.query<{ kind: string; state: string; n: string }>(
      "SELECT kind, state, n FROM tenant_counts()",
    ),
  ]);
  return {
    receipts: Number(ledger!.receipts),
    waiting: Number(ledger!.waiting),
    oldestWaiting: ledger!.oldest,
    refusedSeals: Number(ledger!.refused),
    isSealingHeld: ledger!.held,
    checkpointAgeSeconds: ledger!.age,
    checkpointSize: Number(ledger!.size ?? 0),
    counts: counts.map(({ kind, state, n }) => ({ kind, state, n: Number(n) })),
  };
}
