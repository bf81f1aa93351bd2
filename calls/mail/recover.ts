/** Recovery of a lost call that sends one mail, whose id is made from the call's. */
import type { LostCall, Recovery } from "../../contract/mod.ts";
import { emailWorkflowId } from "../../domain/mod.ts";
import { dropEmail, getEmail } from "../../store/mod.ts";
import {
  idOfCall,
  notNoted,
  recoverBegun,
  recoverRun,
  type RecoveryParts,
} from "../recover/mod.ts";
import { describeMail } from "./send.ts";

/** Returns the id of the mail that a call sends. */
export function emailIdOf(decisionId: string | undefined): string {
  return `EML-${idOfCall(decisionId, 12)}`;
}

/** Recovers a lost call. A stored mail without a workflow was not sent, and goes. */
export async function recoverMail(parts: RecoveryParts, call: LostCall): Promise<Recovery> {
  const { db } = parts.store;
  const email = await getEmail(db, emailIdOf(call.decisionId));
  if (!email) return notNoted(call);
  const recovery = await recoverRun(parts, emailWorkflowId(email.id), call, recoverBegun);
  if (recovery.state === "not_done") await dropEmail(db, email.id);
  if (recovery.state !== "done") return recovery;
  const ids = { email_id: email.id, ...recovery.ids };
  return { state: "done", ids, output: { ...describeMail(email), run_id: recovery.ids.run_id } };
}
