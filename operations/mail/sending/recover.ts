/** Recovery of a lost call that sends one mail, whose id is made from the call's. */
import type { LostCall, Recovery } from "../../../contract/mod.ts";
import { emailWorkflowId } from "../../../contract/domain/mod.ts";
import {
  idOfCall,
  notNoted,
  recoverRecord,
  type RecoveryParts,
} from "../../../calls/recover/mod.ts";
import { describeMail } from "./send.ts";
import { dropEmail, getEmail } from "../../../store/mail/mod.ts";

/** Returns the id of the mail that a call sends. */
export function emailIdOf(decisionId: string | undefined): string {
  return `EML-${idOfCall(decisionId, 12)}`;
}

/** Recovers a lost call. A stored mail without a workflow was not sent, and goes. */
export async function recoverMail(parts: RecoveryParts, call: LostCall): Promise<Recovery> {
  const { db } = parts.store;
  const email = await getEmail(db, emailIdOf(call.decisionId));
  if (!email) return notNoted(call);
  return await recoverRecord(parts, call, {
    workflowId: emailWorkflowId(email.id),
    ids: { email_id: email.id },
    output: describeMail(email),
    drop: () => dropEmail(db, email.id),
  });
}
