import { z } from "zod";
import { castVotes, MAX_LISTED, proposeList } from "../../calls/approvals/mod.ts";
import { type Context, operation, type Platform, siteOf } from "../../calls/mod.ts";
import type { VoteMove } from "../../store/approvals/mod.ts";
import { listPasskeys } from "../../store/people/mod.ts";
import { ApprovalId, approvalOwner, ApprovalStatus } from "../approvals/mod.ts";
import { ChallengeId, exampleAssertion, PasskeyAnswer, Sha256 } from "../schemas/mod.ts";
import { exampleStatement, Statement } from "./statement.ts";

const ApprovalIds = z.array(ApprovalId).min(1).max(MAX_LISTED)
  .refine((ids) => new Set(ids).size === ids.length, "Expected each approval once")
  .describe("Approvals of one tenant, as they were shown");
const ListStatement = z.object({
  version: z.literal(1),
  move: z.literal("approved"),
  size: z.number().int().describe("Number of approvals"),
  root: Sha256.describe("Root of the Merkle tree over the statements' canonical JSON (RFC 6962)"),
  nonce: z.string().describe("The challenge's id"),
});
const Decided = z.object({
  results: z.array(z.object({
    approval_id: ApprovalId,
    status: ApprovalStatus.describe("Status now"),
    receipt_id: z.string().nullable().describe("Receipt of the move; null: the vote is none yet"),
    problem: z.string().nullable().describe(
      "Why the vote does not count, or waits; null: it counts",
    ),
  })).describe("One for each approval, in the order of the request"),
});

const id = exampleStatement.approval;
const exampleResults = (status: "approved" | "denied") => ({
  results: [{ approval_id: id, status, receipt_id: "9f2c4b7a01d3e856", problem: null }],
});

const common = {
  group: "console",
  extension: true,
  access: "session",
} as const;
const deciding = {
  ...common,
  effect: "run",
  output: Decided,
  presentation: { errors: ["NotFound", "Conflict", "Forbidden", "NotConfigured", "Unavailable"] },
  governance: { rule: "key-decides", humanControl: true, unnamed: true, ownerOf: ownerOfFirst },
  durability: { sealsItself: true },
} as const;

/** Gives a list to sign. */
export const listStatement = operation({
  ...common,
  name: "people.list_statement",
  summary: "Get the statement that your passkey signs to approve several at once",
  description:
    "It is over the root of a Merkle tree, whose leaves are the canonical JSON of the statements about each approval, in " +
    "their order. What does not wait any more is left out. Send the answer to `POST /v1/console/approvals/approve`.",
  effect: "read",
  input: z.object({ approval_ids: ApprovalIds }),
  output: z.object({
    challenge_id: ChallengeId,
    challenge: z.string().describe("Base64url"),
    list: ListStatement,
    statements: z.array(Statement),
    rp_id: z.string().describe("Domain that the passkey is for"),
    credentials: z.array(z.string()).describe("Those of the person's passkeys, base64url"),
  }),
  rest: { people_list_statement: "POST /v1/console/approvals/statement" },
  presentation: { errors: ["NotFound", "Conflict", "NotConfigured"] },
  governance: { ownerOf: ownerOfFirst },
  example: {
    input: { approval_ids: [id] },
    output: {
      challenge_id: "00112233445566778899aabbccddeeff",
      challenge: "3q2-7wAA",
      list: {
        version: 1,
        move: "approved",
        size: 1,
        root: "1d9bb1a0c7d8c1b6f3a4f1a1f9a6f5a37a4b1a9a0f5a3de1a0b7a5a9c1e2f3a4",
        nonce: "00112233445566778899aabbccddeeff",
      },
      statements: [exampleStatement],
      rp_id: "localhost",
      credentials: ["q3mVx0GkT8Wm2bE1yRzN5A"],
    },
  },
  async run({ approval_ids }, { store, caller, urls }) {
    const { rpId } = siteOf({ urls });
    const proposed = await proposeList({ store }, approval_ids, caller.session!.id);
    const passkeys = await listPasskeys(store.asTenant(caller.tenant), caller.principal);
    return {
      challenge_id: proposed.id,
      challenge: proposed.challenge,
      list: proposed.list,
      statements: proposed.statements,
      rp_id: rpId,
      credentials: passkeys.map(({ credential_id }) => credential_id),
    };
  },
});

const Reason = z.string().trim().min(1).max(1000).optional().describe(
  "Why, for people; it is private evidence of each receipt",
);

/** Approves a list. */
export const approveList = operation({
  ...deciding,
  name: "people.approve_list",
  summary: "Approve several at once, by one answer of your passkey",
  description:
    "Each approval gets a vote and a receipt of its own, whose evidence proves that it was in the list that was signed. " +
    "One that has changed, or was decided meanwhile, is told apart, and keeps no other from being approved.",
  input: z.object({ approval_ids: ApprovalIds, reason: Reason, passkey: PasskeyAnswer }),
  rest: { people_approve_list: "POST /v1/console/approvals/approve" },
  example: {
    input: {
      approval_ids: [id],
      passkey: { challenge_id: "00112233445566778899aabbccddeeff", assertion: exampleAssertion },
    },
    output: exampleResults("approved"),
  },
  run: (input, context) => decide("approved", input, context),
});

/** Denies a list. */
export const denyList = operation({
  ...deciding,
  name: "people.deny_list",
  summary: "Deny several at once",
  description: "Each gets a vote and a receipt of its own, as if it were denied alone.",
  input: z.object({ approval_ids: ApprovalIds, reason: Reason }),
  rest: { people_deny_list: "POST /v1/console/approvals/deny" },
  example: { input: { approval_ids: [id] }, output: exampleResults("denied") },
  run: (input, context) => decide("denied", input, context),
});

/** A person's decision about a list. */
interface ListDecision {
  readonly approval_ids: readonly string[];
  readonly reason?: string | undefined;
  readonly passkey?: z.output<typeof PasskeyAnswer> | undefined;
}

async function decide(
  move: VoteMove,
  { approval_ids, reason, passkey }: ListDecision,
  context: Context,
): Promise<z.output<typeof Decided>> {
  const words = { reason: reason ?? null, passkey };
  const votes = await castVotes(move, approval_ids, words, context);
  return {
    results: votes.map(({ approvalId, status, receiptId, problem }) => ({
      approval_id: approvalId,
      status,
      receipt_id: receiptId,
      problem: problem?.message ?? null,
    })),
  };
}

/** All are of the tenant of the first: others are not found. */
async function ownerOfFirst(
  { approval_ids: [approval_id] }: { readonly approval_ids: readonly string[] },
  parts: Pick<Platform, "store">,
): Promise<string | undefined> {
  return await approvalOwner({ approval_id: approval_id! }, parts);
}
