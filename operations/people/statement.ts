import { z } from "zod";
import { existingApproval, proposeStatement } from "../../calls/approvals/mod.ts";
import { operation, siteOf } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { listPasskeys } from "../../store/people/mod.ts";
import { ApprovalId, approvalOwner } from "../approvals/mod.ts";
import { ChallengeId, Sha256 } from "../schemas/mod.ts";

/** The statement about one approval that a passkey signs. */
export const Statement = z.object({
  version: z.literal(1),
  approval: ApprovalId,
  cycle: z.number().int().describe("How often the approval was reopened"),
  move: z.literal("approved"),
  act: Sha256.describe("How the public receipts name the action"),
  shown_sha256: Sha256.describe("SHA-256 of the lines that were shown, each with a line feed"),
  nonce: z.string().describe("The challenge's id"),
});

/** A statement, in examples. */
export const exampleStatement: z.output<typeof Statement> = {
  version: 1,
  approval: "APR-5b1e09c77a42",
  cycle: 0,
  move: "approved",
  act: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
  shown_sha256: "1d9bb1a0c7d8c1b6f3a4f1a1f9a6f5a37a4b1a9a0f5a3de1a0b7a5a9c1e2f3a4",
  nonce: "00112233445566778899aabbccddeeff",
};

/** Gives a statement to sign. */
export const approvalStatement = operation({
  name: "people.statement",
  group: "console",
  extension: true,
  summary: "Get the statement that your passkey signs to approve",
  description:
    "The challenge is SHA-256 of the statement's canonical JSON, so that the signature is over exactly this approval, its " +
    "action, and the lines that the page has shown. Send the answer as `passkey` of `POST /v1/approvals/{approval_id}/approve`.",
  effect: "read",
  access: "session",
  input: z.object({ approval_id: ApprovalId }),
  output: z.object({
    challenge_id: ChallengeId,
    challenge: z.string().describe("Base64url"),
    statement: Statement,
    rp_id: z.string().describe("Domain that the passkey is for"),
    credentials: z.array(z.string()).describe("Those of the person's passkeys, base64url"),
  }),
  rest: { people_statement: "POST /v1/console/approvals/{approval_id}/statement" },
  presentation: { errors: ["NotFound", "Conflict", "NotConfigured"] },
  governance: { ownerOf: approvalOwner },
  example: {
    input: { approval_id: "APR-5b1e09c77a42" },
    output: {
      challenge_id: "00112233445566778899aabbccddeeff",
      challenge: "3q2-7wAA",
      statement: exampleStatement,
      rp_id: "localhost",
      credentials: ["q3mVx0GkT8Wm2bE1yRzN5A"],
    },
  },
  async run({ approval_id }, { store, caller, urls }) {
    const { rpId } = siteOf({ urls });
    const approval = await existingApproval({ store }, approval_id);
    if (approval.status !== "pending") {
      throw new Problem("Conflict", `Approval ${approval_id} is ${approval.status}`);
    }
    const passkeys = await listPasskeys(store.asTenant(caller.tenant), caller.principal);
    const { id, challenge, statement } = await proposeStatement(
      { store },
      approval,
      caller.session!.id,
    );
    return {
      challenge_id: id,
      challenge,
      statement,
      rp_id: rpId,
      credentials: passkeys.map(({ credential_id }) => credential_id),
    };
  },
});
