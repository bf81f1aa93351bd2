import { listUnusedKeys } from "../../../store/keys/mod.ts";
import type { Scanner, Weakness } from "./_scanner.ts";

const UNUSED_DAYS = 90;
/** Unused keys of these tiers are worse. */
const PRIVILEGED = new Set(["admin", "enterprise"]);

/** Finds API keys that nobody has used for long. */
export const keys: Scanner = async ({ store }) => {
  const unused = await listUnusedKeys(store.asPlatform(), UNUSED_DAYS);
  return unused.map(({ id, tier, mayApprove, expiresAt, days }): Weakness => ({
    code: "stale_key",
    severity: PRIVILEGED.has(tier) || mayApprove ? "high" : "medium",
    summary: `The ${tier} key ${id} has not been used for ${days} days`,
    detail: {
      key_id: id,
      tier,
      may_approve: mayApprove,
      unused_days: days,
      expires_at: expiresAt?.toISOString() ?? null,
    },
    remedy: `npm run keys -- revoke ${id}, or ask its holder what it is for`,
    which: id,
  }));
};
