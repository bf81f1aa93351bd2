/** Governance policies: rules as data, in versions. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { SHIPPED_RULES } from "../../contract/mod.ts";
import { adviseField } from "../../integrations/files/mod.ts";
import type { PolicyVersion } from "../../store/calls/mod.ts";
import { patternError } from "./patterns.ts";

/** Days as rules name them, Sunday first as JavaScript counts. */
export const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

const names = (about: string) =>
  z.array(z.string().min(1).max(200)).min(1).max(100).describe(about);
const TIME = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "Expected a time as 22:30");
const PATTERN = z.string().min(1).max(1_000).superRefine((text, context) => {
  const why = patternError(text);
  if (why) context.addIssue({ code: "custom", message: `Expected a regular expression: ${why}` });
});

const HOURS = z.strictObject({
  from: TIME,
  to: TIME.describe("Not included; earlier than from: on the next day"),
  days: z.array(z.enum(DAYS)).min(1).optional().describe("On which it begins; left out: all"),
  zone: z.string().refine(isZone, "Expected a time zone as Europe/Vienna").default("UTC"),
});

const WHEN = z.strictObject({
  tools: names("Names of tools, REST operation ids, or operations; * stands for anything")
    .optional(),
  effects: z.array(z.enum(["write", "run"])).min(1).optional(),
  doors: z.array(z.enum(["rest", "mcp", "a2a"])).min(1).optional(),
  tenants: names("Tenants of the key; * stands for anything").optional(),
  keys: names("Ids of keys").optional(),
  principals: names("Who holds the key; * stands for anything").optional(),
  tiers: z.array(z.enum(["free", "partner", "enterprise", "admin"])).min(1).optional(),
  environments: names("SEALOOP_ENVIRONMENT of this platform").optional(),
  hours: HOURS.optional(),
  arguments: z.record(z.string().min(1).max(200), PATTERN).optional()
    .describe(
      "Path of an argument, as body.command, and a regular expression (RE2) that it must match",
    ),
  blast_radius_over: z.number().int().min(0).max(10_000).optional()
    .describe("The service that it is about, and those that need it, are more than this"),
  rate_over: z.strictObject({
    calls: z.number().int().min(0).max(1_000_000),
    seconds: z.number().int().min(1).max(86_400),
  }).optional().describe("The key has made more such calls than this in the span of that length"),
}).describe("All that is given must hold; nothing given: every call");

const RULE = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "Expected a-z, 0-9 and hyphens"),
  when: WHEN.prefault({}),
  then: z.enum(["allow", "needs_approval", "deny"]),
  reason: z.string().min(1).max(300).optional().describe("A sentence for the caller"),
  approvers: z.number().int().min(1).max(10).default(1)
    .describe("How many different people must approve"),
  passkey: z.boolean().default(false).describe(
    "Whether approving takes a passkey, on the console: then no key approves by itself",
  ),
  guardrails: z.boolean().default(true)
    .describe("Whether the four rails read the call's free text; false where it is only kept"),
}).refine(({ then, passkey }) => !passkey || then === "needs_approval", {
  path: ["passkey"],
  message: "Expected with then: needs_approval alone, as nobody approves otherwise",
});

/** Schema of a governance policy. */
export const GOVERNANCE_POLICY = z.strictObject({
  rules: z.array(RULE).max(200).default([])
    .describe(
      "Read from the top: the first that fits decides. Where none does, the rule that ships with the operation decides",
    ),
  max_waiting_per_key: z.number().int().min(0).max(1_000).default(20)
    .describe("Most calls of a key that may wait for people at a time"),
  publish_approvers: z.boolean().default(false)
    .describe(
      "Receipts of approvals name the keys of those who decide, and have what their passkeys signed, for everybody and for ever",
    ),
});

/** A governance policy. */
export type GovernancePolicy = z.output<typeof GOVERNANCE_POLICY>;
/** A rule of a policy. */
export type Rule = GovernancePolicy["rules"][number];

/** The policy while none was set. */
export const NO_RULES: GovernancePolicy = GOVERNANCE_POLICY.parse({});

/** Returns the JSON Schema of the policy's file. */
export function governanceFileSchema(): Record<string, unknown> {
  return {
    title: "The governance policy's file of sealoop",
    ...z.toJSONSchema(GOVERNANCE_POLICY, { io: "input" }),
  };
}

/**
 * Returns the name of a policy's version: its number, and digits that change with the policy and with the rules that
 * ship, and tell nothing of the policy. Names are public.
 *
 * @param stored undefined: none was set
 */
export function governanceVersion(stored?: PolicyVersion): string {
  const text = JSON.stringify([stored?.commitment ?? null, SHIPPED_RULES]);
  return `${stored?.version ?? 0}-${createHash("sha256").update(text).digest("hex").slice(0, 12)}`;
}

/** YAML reads a key's id without letters, or with one `e`, as a number. */
const UNQUOTED = /expected string, received (?:number|boolean)$/;
const QUOTE_IT = "; put it in quotes";

/** A mistake in a policy, at a path of it. */
export interface PolicyMistake {
  readonly path: readonly PropertyKey[];
  readonly text: string;
  /** True: the text is the schema's own, and names nothing that the policy has. */
  readonly isOpen: boolean;
}

/** Checks a policy. @returns it, or what is wrong with it */
export function checkGovernancePolicy(
  value: unknown,
): { readonly policy: GovernancePolicy } | { readonly mistakes: readonly PolicyMistake[] } {
  const { data: policy, error } = GOVERNANCE_POLICY.safeParse(value ?? {});
  if (!policy) return { mistakes: error.issues.flatMap(toMistakes) };
  const shipped = Object.keys(SHIPPED_RULES);
  const all = [...shipped, ...policy.rules.map(({ name }) => name)];
  const twice = all.findIndex((name, n) => all.indexOf(name) !== n);
  if (twice === -1) return { policy };
  const path = ["rules", twice - shipped.length];
  const text = `There are two of the name ${all[twice]}`;
  return { mistakes: [{ path, text, isOpen: false }] };
}

/** Reads a policy. @throws {Error} it is none: the message names what is wrong */
export function readGovernancePolicy(value: unknown): GovernancePolicy {
  const read = checkGovernancePolicy(value);
  if ("policy" in read) return read.policy;
  const list = read.mistakes.map(({ path, text }) => `${path.join(".") || "policy"}: ${text}`);
  throw new Error(list.join("; "));
}

function toMistakes(issue: z.core.$ZodIssue): PolicyMistake[] {
  const { path, code, message } = issue;
  if (code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: [...path, key],
      text: `There is no such field${adviseField(GOVERNANCE_POLICY, path, key)}`,
      isOpen: true,
    }));
  }
  const text = `${message}${UNQUOTED.test(message) ? QUOTE_IT : ""}`;
  return [{ path, text, isOpen: code !== "custom" }];
}

function isZone(zone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: zone }));
  } catch {
    return false;
  }
}
