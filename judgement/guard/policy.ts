/** The guardrails' policy: bounds as data, in versions. */
import { hash } from "node:crypto";
import { z } from "zod";
import { BadFile, readYaml } from "../../integrations/files/mod.ts";
import type { PolicyVersion } from "../../store/calls/mod.ts";

const BOUNDS = z.strictObject({
  min_confidence: z.number().min(0).max(1).default(0.7).describe("Least confidence, 0 to 1"),
  require_confidence: z.boolean().default(false)
    .describe("Whether an action without a confidence needs approval"),
  max_blast_radius: z.number().int().min(0).max(10_000).default(3).describe(
    "Most services that an action may reach",
  ),
  allow_secrets: z.boolean().default(false).describe(
    "Whether actions may touch secrets without approval",
  ),
  require_known_target: z.union([z.boolean(), z.literal("auto")]).default("auto").describe(
    "Whether a service or host that the CMDB does not know needs approval; auto: it does, also while the CMDB is empty",
  ),
  min_relevance: z.number().min(0).max(1).default(0.02)
    .describe("Least share of the incident's words that a cited article must have"),
  max_repairs_per_target_hour: z.number().int().min(1).max(1_000).default(5).describe(
    "Most repairs of one target an hour",
  ),
  max_repairs_hour: z.number().int().min(1).max(100_000).default(200).describe(
    "Most repairs of all targets an hour",
  ),
});
const FREEZE = z.strictObject({
  from: z.iso.datetime({ offset: true }),
  to: z.iso.datetime({ offset: true }),
  reason: z.string().min(1).max(200),
});

/** Schema of a policy; each field has a default. */
export const POLICY = z.strictObject({
  bounds: BOUNDS.prefault({}),
  freezes: z.array(FREEZE).max(100).default([]).describe(
    "Spans in which every change needs approval",
  ),
});

/** A policy with all its fields. */
export type Policy = z.output<typeof POLICY>;

/** The policy in force until another is set. */
export const DEFAULT_POLICY: Policy = POLICY.parse({});

/**
 * Returns the name of a version of a policy: its number and the first digits of the commitment to it, which tell nothing
 * of its content. Names are public.
 *
 * @param stored null: the default is in force, and named by its hash
 */
export function policyVersionName(stored: PolicyVersion | null): string {
  const digits = stored?.commitment ?? DEFAULT_SHA256;
  return `${stored?.version ?? 0}-${digits.slice(0, 12)}`;
}

const DEFAULT_SHA256 = hash("sha256", JSON.stringify(DEFAULT_POLICY));

/** Reads the text of a policy's file. @throws {BadFile} */
export function readPolicyFile(text: string): Policy {
  const read = readYaml(text, POLICY);
  if ("value" in read) return read.value;
  throw new BadFile(read.mistakes);
}

/** Parses a policy as it is stored. @throws {Error} naming the wrong fields */
export function readPolicy(value: unknown): Policy {
  const { data, error } = POLICY.safeParse(value ?? {});
  if (data) return data;
  const issues = error.issues.map(({ path, message }) =>
    `${path.join(".") || "policy"}: ${message}`
  );
  throw new Error(issues.join("; "));
}
