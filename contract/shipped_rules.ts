/** A shipped governance rule: it decides about a call that no rule of the operator's policy matches. */
export interface ShippedRule {
  readonly then: "allow" | "needs_approval";
  /** A sentence for the caller. */
  readonly reason: string;
  /** False where the guardrails do not read the call's text. */
  readonly guardrails: boolean;
  /** Number of people who must approve; default: one. */
  readonly approvers?: number;
}

/** The shipped rules by name. Each operation that changes something names the one that decides about its calls. */
export const SHIPPED_RULES = {
  "acts-on-the-outside": {
    then: "needs_approval",
    reason: "It acts on the outside, or changes what the platform does by itself",
    guardrails: true,
  },
  "free-arguments": {
    then: "needs_approval",
    reason: "It runs arguments that no script of the catalogue has, which takes two people",
    guardrails: true,
    approvers: 2,
  },
  "tells-the-outside": {
    then: "needs_approval",
    reason: "An address outside is told of every ticket from then on",
    guardrails: false,
  },
  "tickets-and-loops": {
    then: "allow",
    reason: "Its text is only kept; each repair is held against the guardrails by the loop",
    guardrails: false,
  },
  "sandbox-and-judgement": {
    then: "allow",
    reason: "It stays in a sandbox of its own, or only reads and judges",
    guardrails: false,
  },
  "reviewed-mail": {
    then: "allow",
    reason: "A review of its own holds a mail for a person where it finds a reason to",
    guardrails: false,
  },
  "models-within-budget": {
    then: "allow",
    reason:
      "Its prompt is checked, private data in it are masked, and a budget limits what it costs",
    guardrails: false,
  },
  "key-decides": {
    then: "allow",
    reason: "A key that reaches it may do it",
    guardrails: false,
  },
} as const satisfies Readonly<Record<string, ShippedRule>>;

/** The name of a rule in {@linkcode SHIPPED_RULES}. */
export type ShippedRuleName = keyof typeof SHIPPED_RULES;
