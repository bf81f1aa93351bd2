import { listUnusedKeys } from "../../store/mod.ts";
import type { Scanner } from "./_scanner.ts";

const UNUSED_DAYS = 90;
/** Of keys that may do much, those that are forgotten are worse. */
const PRIVILEGED = new Set(["admin", "enterprise"]);

/** API keys that nobody seems to need any more. */
export const keys: Scanner = async ({ store }) =>
  (await listUnusedKeys(store.asPlatform(), UNUSED_DAYS)).map(({ id, tier, mayApprove, expiresAt, days }) => ({
    code: "stale_key",
    severity: PRIVILEGED.has(tier) || mayApprove ? "high" as const : "medium" as const,
    summary: `The ${tier} key ${id} has not been used for ${days} days`,
    detail: {
      ...{ key_id: id, tier, may_approve: mayApprove, unused_days: days },
      expires_at: expiresAt?.toISOString() ?? null,
    },
    remedy: `npm run keys -- revoke ${id}, or ask its holder what it is kept for`,
    which: id,
  }));
