import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../contract/mod.ts";
import type { Db } from "../../store/mod.ts";
import { type ApprovalRecord, listApprovalMoves } from "../../store/approvals/mod.ts";
import { getTicket } from "../../store/incidents/mod.ts";

/** Time that a voter waits to learn what the loop asks for instead. */
const MAX_WAIT_MS = 8_000;
const PAUSE_MS = 200;

/** Returns the refusal of a vote about what has changed since, with what is asked for instead where that is known by then. */
export async function outdatedVote(
  db: Db,
  { id, ticketId }: Pick<ApprovalRecord, "id" | "ticketId">,
): Promise<Problem> {
  const moves = await listApprovalMoves(db, id);
  const why = moves.findLast(({ move }) => move === "outdated")?.reason ??
    "what it was about has changed";
  const next = ticketId === null ? undefined : await waitForSuccessor(db, ticketId);
  const message = `This vote does not count, and ${id} has ended: ${why}. ${
    next ?? `The loop looks again by itself; ${ticketId} shows what it asks for`
  }`;
  return new Problem("Conflict", message);
}

/** @returns a sentence without its end; undefined: the loop is not that far */
async function waitForSuccessor(db: Db, ticketId: string): Promise<string | undefined> {
  const deadline = Date.now() + MAX_WAIT_MS;
  for (;;) {
    const { approval_id, status } = await getTicket(db, ticketId) ?? {};
    if (status === "resolved") return `${ticketId} is closed, and nothing is left to decide`;
    if (approval_id) return `The repair was made anew, and ${approval_id} asks for it`;
    if (Date.now() > deadline) return undefined;
    await sleep(PAUSE_MS);
  }
}
