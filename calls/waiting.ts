/** Waits of a run of the loop, as answers tell them. */
import { setTimeout as sleep } from "node:timers/promises";
import { escapeInvisible } from "../contract/mod.ts";
import { getApproval } from "../store/approvals/mod.ts";
import type { Db } from "../store/mod.ts";
import { noticeOf } from "./approvals/mod.ts";

/** The approval that a loop waits for, why, and until when. */
export interface AwaitedApproval {
  readonly approval_id: string;
  readonly description: string;
  readonly rule: string | null;
  readonly reasons: readonly string[];
  /** ISO 8601. */
  readonly until: string;
  readonly decide: string;
}

/** A loop says that it asks a moment before the request is stored. */
const STORED_WITHIN_MS = 3_000;
const PAUSE_MS = 100;

/** Describes an approval that a loop waits for. @returns undefined: nobody can decide about it now */
export async function describeAwaited(db: Db, id: string): Promise<AwaitedApproval | undefined> {
  const deadline = Date.now() + STORED_WITHIN_MS;
  let approval = await getApproval(db, id);
  while (!approval && Date.now() < deadline) {
    await sleep(PAUSE_MS);
    approval = await getApproval(db, id);
  }
  if (approval?.status !== "pending") return undefined;
  const { rule, reasons, decide } = noticeOf(approval);
  const description = escapeInvisible(approval.description);
  return { approval_id: id, description, rule, reasons, until: approval.expiresAt, decide };
}
