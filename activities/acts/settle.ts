import { forTenant, getRunStatus } from "../../calls/mod.ts";
import type { RunId } from "../../contract/domain/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { listOpenActs, type OpenAct, type OpenActKind } from "../../store/acts/mod.ts";
import type { ActivityParts } from "../parts.ts";
import type { ActKind } from "./kind.ts";

/** Open acts that are looked at at a time. */
const CONCURRENCY = 16;

/** Something open, and how its kind is ended. */
interface Item {
  readonly owner: ActivityParts;
  readonly open: OpenAct;
  readonly kind: ActKind;
}

/** The run that was to end it, and Temporal's status of that. */
interface EndedRun {
  readonly run: RunId;
  readonly status: string;
}

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
  kinds: Partial<Readonly<Record<OpenActKind, ActKind>>>,
): Promise<number> {
  const items: Item[] = [];
  for (const tenant of await listTenants(parts.store.db)) {
    const owner = forTenant(parts, tenant);
    for (const open of await listOpenActs(owner.store.db)) {
      const kind = kinds[open.kind];
      if (kind) items.push({ owner, open, kind });
    }
  }
  const failures: unknown[] = [];
  let settled = 0;
  const waiting = items.values();
  await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
    for (const item of waiting) {
      const ended = await readRun(parts, item).catch((error) => void failures.push(error));
      if (ended && await end(item, ended)) settled++;
    }
  }));
  if (items.length > 0 && failures.length === items.length) throw failures[0];
  return settled;
}

/** @returns undefined: it goes on, or may be about to start */
async function readRun(
  { temporal }: Pick<ActivityParts, "temporal">,
  { open, kind }: Item,
): Promise<EndedRun | undefined> {
  const workflow_id = open.run?.workflow_id ?? kind.workflowId?.(open.id);
  if (workflow_id === undefined) return { run: { workflow_id: "", run_id: "" }, status: "NONE" };
  const { status, runId } = await getRunStatus(temporal, workflow_id, open.run?.run_id);
  if (status === "RUNNING" || status === "NOT_FOUND" && open.isYoung) return undefined;
  return { run: open.run ?? { workflow_id, run_id: runId ?? "gone" }, status };
}

async function end({ owner, open, kind }: Item, { run, status }: EndedRun): Promise<boolean> {
  try {
    return await kind.end(owner, open, run, status);
  } catch (err) {
    const { log, store: { tenant } } = owner;
    log.warn({ err, tenant, kind: open.kind, id: open.id }, "It can't be ended now");
    return false;
  }
}
