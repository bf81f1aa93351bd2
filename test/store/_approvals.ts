import { groundsOf } from "../../contract/records/mod.ts";
import type { NewApproval } from "../../store/approvals/mod.ts";

/** Returns an approval that somebody asks one person for. */
export function anyApproval(id: string): NewApproval {
  return {
    id,
    subject: "test",
    ticketId: null,
    description: "",
    action: {},
    actionSha256: "0".repeat(64),
    actionCommitment: "0".repeat(64),
    actionSalt: Buffer.alloc(32),
    actionGroup: "0".repeat(64),
    grounds: groundsOf({}),
    requestedBy: "somebody",
    requestedByKey: null,
    needed: 1,
    expiresInSeconds: 60,
    escalateAfterSeconds: 60,
    askingRun: null,
  };
}
