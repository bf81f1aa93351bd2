import { z } from "zod";
import { stringify } from "yaml";
import { type Context, operation } from "../../calls/mod.ts";
import {
  GOVERNANCE_POLICY,
  governanceVersion,
  NO_RULES,
  type Outcome,
  type PastCall,
  readGovernanceFile,
  replayRules,
  unknownNamesIn,
} from "../../calls/governance/mod.ts";
import { InvalidInput } from "../../contract/mod.ts";
import { DECISIONS } from "../../contract/domain/mod.ts";
import {
  currentPolicy,
  listPastDecisions,
  listPolicyVersions,
  type PolicyVersion,
} from "../../store/calls/mod.ts";
import { listKeys, listTenants } from "../../store/keys/mod.ts";
import { exampleDecision, GovernedCall, Timestamp, toGovernedCall } from "../schemas/mod.ts";

const DAY_MS = 86_400_000;
const MAX_VERSIONS = 50;
/** Calls that a trial looks at, the time that it takes at most, and calls that it lists. */
const MAX_CALLS = 5_000;
const MAX_MS = 5_000;
const MAX_LISTED = 100;

/** Versions of the governance policy. */
export const policyVersions = operation({
  name: "governance.policies",
  group: "console",
  extension: true,
  summary: "List the versions of the governance policy, newest first; the first is in force",
  effect: "read",
  access: "admin",
  input: z.object({}),
  output: z.object({
    versions: z.array(z.object({
      version: z.number().int().min(1),
      name: z.string().describe("By which decisions name it"),
      set_at: Timestamp,
      text: z.string().describe("As a file (YAML) would say it"),
    })).describe(`Up to ${MAX_VERSIONS}; empty: no policy was set, so the shipped rules decide`),
  }),
  rest: { governance_policies: "GET /v1/governance/policies" },
  example: {
    input: {},
    output: {
      versions: [{
        version: 1,
        name: "1-2f1c5d0b9a7e",
        set_at: "2026-07-01T12:00:00.000Z",
        text: "rules: []\nmax_waiting_per_key: 20\n",
      }],
    },
  },
  run: async (_, { store }) => ({
    versions: (await listPolicyVersions(store.asPlatform(), MAX_VERSIONS)).map((one) => ({
      version: one.version,
      name: governanceVersion(one),
      set_at: one.setAt.toISOString(),
      text: stringify(one.policy),
    })),
  }),
});

const Outcomes = z.array(z.object({ rule: z.string(), decision: z.enum(DECISIONS) })).describe(
  "One: that is certain; several: it depends on arguments or services which of these it is",
);
const Changed = z.object({ call: GovernedCall, before: Outcomes, after: Outcomes });

/** Decisions that a changed policy would have made. */
export const policyTrial = operation({
  name: "governance.try",
  group: "console",
  extension: true,
  summary: "Try a changed governance policy on the calls of the last days; nothing is changed",
  description:
    "Calls that were decided about are decided about again by the rules of the policy in force and by those of the changed one, " +
    "and compared. Stops, guardrails and second opinions are left out, as they are the same for both. Arguments of calls are " +
    "sealed, and kept only of those that waited for people: where a rule asks for others, or for what a call reaches, the answer " +
    "names the rules that it may have been.",
  effect: "read",
  access: "admin",
  input: z.object({
    policy: z.string().max(200_000).describe("The file's text (YAML)"),
    days: z.number().int().min(1).max(7).default(7),
  }),
  output: z.object({
    in_force: z.string().describe("Name of the policy that is compared with"),
    since: Timestamp.describe("When the first call was made that was looked at"),
    calls: z.number().int().describe("Calls that were looked at, the newest ones"),
    is_all: z.boolean().describe(
      `False: there were more than ${MAX_CALLS}, or looking at them took more than ${
        MAX_MS / 1_000
      } s`,
    ),
    same: z.number().int().describe("Calls that would be decided as before"),
    changes: z.number().int().describe("Calls that would be decided otherwise"),
    unsure: z.number().int().describe("Calls of which that depends on what is not known"),
    changed: z.array(Changed).describe(`The newest ${MAX_LISTED} of those, the certain ones first`),
    warnings: z.array(z.string()).describe("Names in rules that nothing has"),
  }),
  rest: { governance_try: "POST /v1/governance/policies/try" },
  presentation: { untrusted: true },
  example: {
    input: {
      policy: "rules:\n  - name: none-by-agents\n    when: { doors: [mcp] }\n    then: deny\n",
    },
    output: {
      in_force: "0-a85678ebf785",
      since: exampleDecision.at,
      calls: 1,
      is_all: true,
      same: 0,
      changes: 1,
      unsure: 0,
      changed: [{
        call: exampleDecision,
        before: [{ rule: "free-arguments", decision: "needs_approval" }],
        after: [{ rule: "none-by-agents", decision: "deny" }],
      }],
      warnings: [],
    },
  },
  async run({ policy, days }, context) {
    const { store, config, operations } = context;
    const file = readPolicy(policy);
    const stored = await currentPolicy(store.asPlatform(), "governance_policies");
    const since = new Date(Date.now() - days * DAY_MS);
    const { calls, isAll } = await readCalls(context, since);
    const { SEALOOP_ENVIRONMENT: environment } = config.settings;
    const past = calls.map(({ call }) => call);
    const start = performance.now();
    const before = await replayRules(past, rulesOf(stored), environment, start + MAX_MS / 2);
    const after = await replayRules(past, file.policy.rules, environment, start + MAX_MS);
    const looked = Math.min(before.length, after.length);
    const compared = calls.slice(0, looked).map(({ decision }, n) => ({
      call: toGovernedCall(decision),
      before: [...before[n]!],
      after: [...after[n]!],
    })).map((one) => ({ ...one, result: compare(one.before, one.after) })).reverse();
    const changed = compared.filter(({ result }) => result === "changes");
    const unsure = compared.filter(({ result }) => result === "unsure");
    return {
      in_force: governanceVersion(stored),
      since: calls[0]?.decision.at.toISOString() ?? since.toISOString(),
      calls: looked,
      is_all: isAll && looked === calls.length,
      same: looked - changed.length - unsure.length,
      changes: changed.length,
      unsure: unsure.length,
      changed: [...changed, ...unsure].slice(0, MAX_LISTED)
        .map(({ call, before, after }) => ({ call, before, after })),
      warnings: unknownNamesIn(file, [...operations.values()]),
    };
  },
});

function readPolicy(text: string) {
  try {
    return readGovernanceFile(text);
  } catch (error) {
    const msg = (error as Error).message;
    throw new InvalidInput([{ path: ["policy"], msg, type: "value_error" }]);
  }
}

function rulesOf(stored: PolicyVersion | undefined) {
  return (stored ? GOVERNANCE_POLICY.parse(stored.policy) : NO_RULES).rules;
}

/** Reads the newest calls of all tenants, oldest first, with what their keys may do now. */
async function readCalls({ store, operations }: Context, since: Date) {
  const db = store.asPlatform();
  const [keys, tenants] = await Promise.all([listKeys(db), listTenants(db)]);
  const byId = new Map(keys.map((key) => [key.id, key]));
  const found = await Promise.all(
    tenants.map((tenant) => listPastDecisions(store.asTenant(tenant), since, MAX_CALLS + 1)),
  );
  const newest = found.flat().sort((a, b) => b.at.getTime() - a.at.getTime());
  const calls = newest.slice(0, MAX_CALLS).reverse().flatMap((decision) => {
    const { keyId, door, input, operation: name, ...fields } = decision;
    const operation = operations.get(name);
    if (!operation) return []; // it is not offered any more
    const key = byId.get(keyId);
    const call: PastCall = {
      ...fields,
      keyId,
      operation,
      door: door as PastCall["door"],
      tier: key?.tier ?? "partner",
      mayApprove: key?.mayApprove ?? false,
      input: input === null ? undefined : JSON.parse(input),
    };
    return [{ decision, call }];
  });
  return { calls, isAll: newest.length <= MAX_CALLS };
}

/** Compares what may have been decided: it is the same or another one for certain, or that is not known. */
function compare(
  before: readonly Outcome[],
  after: readonly Outcome[],
): "same" | "changes" | "unsure" {
  const [was, is] = [before, after].map((all) => new Set(all.map(({ decision }) => decision)));
  if (was!.size === 1 && is!.size === 1) return was!.has([...is!][0]!) ? "same" : "changes";
  const text = (all: readonly Outcome[]) => JSON.stringify(all);
  return text(before) === text(after) ? "same" : "unsure";
}
