import { forTenant, getRunStatus } from "../../calls/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { listOpenActs, type OpenAct } from "../../store/acts/mod.ts";
import type { ActivityParts } from "../parts.ts";
import type { ActKind } from "./kind.ts";

/** Open acts that are looked at at a time. */
const CONCURRENCY = 16;

/**
 * Ends what is open, of all tenants, whose run was ended from outside, or never began. Safe to repeat: each has one end. One
 * that can't be ended now keeps no other from it, and is left to the next time.
 *
 * @param kinds those to end
 * @returns how many
 * @throws {Error} Temporal tells of no run
 */
export async function settleOpenActs(
  parts: ActivityParts,
  kinds: Readonly<Record<string, ActKind>>,
): Promise<number> {
  const all: { readonly owner: ActivityParts; readonly open: OpenAct }[] = [];
  for (const tenant of await listTenants(parts.store.db)) {
    const owner = forTenant(parts, tenant);
    for (const open of await listOpenActs(owner.store.db)) {
      if (open.kind in kinds) all.push({ owner, open });
    }
  }
  const failures: unknown[] = [];
  let settled = 0;
  const waiting = all.values();
  await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
    for (const { owner, open } of waiting) {
      const isSettled = await settle(parts, owner, open, kinds[open.kind]!)
        .catch((error) => void failures.push(error));
      if (isSettled) settled++;
    }
  }));
  if (all.length > 0 && failures.length === all.length) throw failures[0];
  return settled;
}

/** @throws {Error} Temporal does not tell of its run */
async function settle(
  { temporal }: Pick<ActivityParts, "temporal">,
  owner: ActivityParts,
  open: OpenAct,
  kind: ActKind,
): Promise<boolean> {
  const { id, run } = open;
  const workflow_id = run?.workflow_id ?? kind.workflowId?.(id);
  const { status, runId = "gone" } = workflow_id === undefined
    ? { status: "NOT_FOUND" } // no run works on it
    : await getRunStatus(temporal, workflow_id, run?.run_id);
  if (status === "RUNNING") return false;
  try {
    const last = run ?? { workflow_id: workflow_id ?? "", run_id: runId };
    return await kind.end(owner, open, last, status);
  } catch (err) {
    const { log, store: { tenant } } = owner;
    log.warn({ err, tenant, kind: open.kind, id }, "It can't be ended now");
    return false;
  }
}
