import { Problem } from "../../contract/mod.ts";
import { getApproval, getHeldCall } from "../../store/approvals/mod.ts";
import { findStop, type Stop } from "../../store/calls/mod.ts";
import { findValidKeys } from "../../store/keys/mod.ts";
import { namesOf, type Platform } from "../platform.ts";
import { subjectOf } from "./subject.ts";

/**
 * Returns why approving a call now would use the approval up for nothing; undefined: nothing blocks it. That can change
 * until the call is run, so it is checked again then.
 */
export async function approvalBlocker(
  parts: Platform,
  approvalId: string,
): Promise<Problem | undefined> {
  const { store: { db }, operations } = parts;
  const blocked = (why: string) =>
    new Problem("Conflict", `Cannot approve ${approvalId} now, as it would be in vain: ${why}`);
  const held = await getHeldCall(db, approvalId);
  if (!held) { // a loop waits for a stop by itself, and a program acts by itself
    const { subject = "" } = await getApproval(db, approvalId) ?? {};
    const obstacle = await subjectOf(parts, subject)?.obstacle?.(parts, subject);
    return obstacle === undefined ? undefined : blocked(obstacle);
  }
  if (held.endedAt) {
    return blocked(held.error?.message ?? "the call that it was to allow has ended");
  }
  if ((await findValidKeys(db, [held.keyId])).length === 0) {
    return blocked(
      "the key that asked was revoked or has expired since; whoever has its new key has to ask again",
    );
  }
  const operation = operations.get(held.operation);
  const names = [
    held.tool,
    ...(operation ? namesOf(operation, JSON.parse(held.input)) : [held.operation]),
  ];
  const stop = await findStop(db, { keyId: held.keyId, names });
  return stop && blocked(sentenceOf(stop));
}

function sentenceOf({ kind, name, reason }: Stop): string {
  const what = `${kind}${name ? ` ${name}` : ""}`;
  const stopped = kind === "all" ? "everything that changes something" : what;
  return `${stopped} is stopped (${reason}). ` +
    `It stays pending, and can be decided after npm run governance -- resume ${what}`;
}
