/** The shield's policy: what devices are checked for, and their firewall's desired rules, in versions. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { ROOT } from "../../config.ts";
import { DEVICE_PLATFORMS, SEVERITIES } from "../../contract/domain/mod.ts";
import { BadFile, readYaml, readYamlFile } from "../../integrations/files/mod.ts";
import { canonicalize } from "../../ledger/rules/mod.ts";
import type { PolicyVersion } from "../../store/calls/mod.ts";
import { Check } from "./checks.ts";

const Id = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "Expected a-z, 0-9 and hyphens");
const MAX_RULES_CHARACTERS = 16_000;

const POLICY = z.strictObject({
  id: Id,
  title: z.string().min(1).max(200).describe("What is right, in one sentence"),
  severity: z.enum(SEVERITIES).describe("Of a device that fails"),
  platforms: z.array(z.enum(DEVICE_PLATFORMS)).min(1).default([...DEVICE_PLATFORMS])
    .describe("Where it applies; left out: everywhere"),
  check: Check,
  finding: z.boolean().default(false)
    .describe("Whether a fail is a finding, which opens an incident of the device's tenant"),
  remedy_script_id: Id.nullable().default(null)
    .describe("Script of the catalogue that the incident's loop may run on the device"),
});

const RULES = z.string().min(1).max(MAX_RULES_CHARACTERS)
  .refine(isBalanced, "Expected chains and sets as nft writes them, each { with its }");

const SHIELD_FILE = z.strictObject({
  policies: z.array(POLICY).max(100).default([])
    .describe("Policies besides those that ship; one of the same id replaces it"),
  without: z.array(Id).max(100).default([]).describe("Ids of shipped policies that do not apply"),
  stale_after_hours: z.number().min(0.01).max(8_760).default(24)
    .describe("Age of a device's last heartbeat from which on all of its checks are unknown"),
  firewall: z.record(z.string().min(1).max(200), RULES).default({}).describe(
    "Desired rules by tenant, * for all others: the content of an nft table of family inet, which the agent owns",
  ),
});

/** A policy of the shield: a check, and what follows from a fail. */
export type ShieldPolicyEntry = z.output<typeof POLICY>;

/** The shield's policy as it is put in force: with what ships. */
export interface ShieldPolicy {
  readonly policies: readonly ShieldPolicyEntry[];
  readonly stale_after_hours: number;
  readonly firewall: Readonly<Record<string, string>>;
}

const SHIPPED_FILE = join(ROOT, "judgement", "shield", "shipped.yaml");

let shipped: readonly ShieldPolicyEntry[] | undefined;

/** Returns the policy while no file was put in force. */
export function shippedShieldPolicy(): ShieldPolicy {
  return withShipped(SHIELD_FILE.parse({}));
}

/** Returns the JSON Schema of the file, for editors. */
export function shieldFileSchema(): Record<string, unknown> {
  return {
    title: "The shield's file of sealoop",
    ...z.toJSONSchema(SHIELD_FILE, { io: "input" }),
  };
}

/**
 * Reads the text of a file, and adds what ships.
 *
 * @throws {BadFile}
 */
export function readShieldPolicy(text: string): ShieldPolicy {
  const read = readYaml(text, SHIELD_FILE);
  if ("mistakes" in read) throw new BadFile(read.mistakes);
  const { policies, without } = read.value;
  const ids = policies.map(({ id }) => id);
  const second = ids.findIndex((id, n) => ids.indexOf(id) !== n);
  const known = new Set(readShipped().map(({ id }) => id));
  const unknown = without.findIndex((id) => !known.has(id));
  const [path, reason] = second !== -1
    ? [["policies", second], `there is another policy ${ids[second]}`] as const
    : [["without", unknown], `there is no shipped policy ${without[unknown]}`] as const;
  if (second === -1 && unknown === -1) return withShipped(read.value);
  throw new BadFile([{ ...read.placeOf(path), text: reason }]);
}

/** Returns the policy that a version has; undefined: none was put in force. */
export function shieldPolicyOf(stored: PolicyVersion | undefined): ShieldPolicy {
  return stored ? stored.policy as ShieldPolicy : shippedShieldPolicy();
}

/** Returns the SHA-256 of a policy's canonical JSON. */
export function hashShieldPolicy(policy: ShieldPolicy): string {
  return hash("sha256", canonicalize(policy));
}

/** Returns the desired rules of a tenant's devices; undefined: none are desired. */
export function desiredFirewall({ firewall }: ShieldPolicy, tenant: string): string | undefined {
  return Object.hasOwn(firewall, tenant) ? firewall[tenant] : firewall["*"];
}

function withShipped({ policies, without, ...rest }: z.output<typeof SHIELD_FILE>): ShieldPolicy {
  const replaced = new Set([...without, ...policies.map(({ id }) => id)]);
  const kept = readShipped().filter(({ id }) => !replaced.has(id));
  return { policies: [...kept, ...policies], ...rest };
}

function readShipped(): readonly ShieldPolicyEntry[] {
  if (shipped) return shipped;
  const read = readYamlFile(SHIPPED_FILE, SHIELD_FILE);
  if ("value" in read) return shipped = read.value.policies;
  throw new BadFile(read.mistakes, SHIPPED_FILE);
}

/** Returns false where the rules would end the agent's table, or not end at all. */
function isBalanced(rules: string): boolean {
  const withoutTexts = rules.replace(/"[^"\n]*"|#.*$/gm, "");
  let depth = 0;
  for (const brace of withoutTexts.match(/[{}]/g) ?? []) {
    depth += brace === "{" ? 1 : -1;
    if (depth < 0) return false;
  }
  return depth === 0;
}
