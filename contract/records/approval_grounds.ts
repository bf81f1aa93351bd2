import { z } from "zod";
import type { DeepReadonly } from "./deep_readonly.ts";

/** A reference to something that people can read before they decide. */
export const EvidenceRef = z.object({
  kind: z.enum(["ticket", "receipt", "decision", "article"]),
  id: z.string(),
});

/** A reference to something that people can read before they decide. */
export type EvidenceRef = Readonly<z.output<typeof EvidenceRef>>;

/** Grounds of an approval, as people are told them: why they are asked, and what they decide about. */
export const ApprovalGrounds = z.object({
  rule: z.string().nullable().describe(
    "Rule of the policy, or rails of the guardrails, that ask people; null: a program asks of its own accord",
  ),
  reasons: z.array(z.string()).describe("Why people are asked, as the rule or the rails say it"),
  reaches: z.array(z.string()).describe(
    "Services that it reaches: its target, and those that need it",
  ),
  evidence: z.array(EvidenceRef).describe("What to read before deciding"),
  passkey: z.boolean().default(false).describe(
    "True: approving takes a passkey, on the console; a key that may approve can only deny",
  ),
});

/** Grounds of an approval, as they are stored. */
export type ApprovalGrounds = DeepReadonly<z.output<typeof ApprovalGrounds>> & {
  /** True: what it asks for holds texts about people, which stay in the database. */
  readonly personal?: boolean;
};

/** Returns grounds, which are empty where nothing is said. */
export function groundsOf(said: Partial<ApprovalGrounds>): ApprovalGrounds {
  return { rule: null, reasons: [], reaches: [], evidence: [], passkey: false, ...said };
}
