/** `npm run governance -- …`: shows the policy on calls, stops calls and resumes them. */
import { readFileSync } from "node:fs";
import {
  GOVERNANCE_POLICY,
  governanceVersion,
  nameError,
  NO_RULES,
  readGovernanceFile,
  suggestion,
  unknownNamesIn,
} from "../../calls/governance/mod.ts";
import {
  isGoverned,
  SHIPPED_RULES,
  type ShippedRuleName,
  shippedRuleOf,
  similarNames,
} from "../../contract/mod.ts";
import { describeMistake } from "../../integrations/settings_files/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { registry } from "../../operations/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import {
  addStop,
  currentPolicy,
  FILE_STOP,
  FLAG_STOP,
  listStops,
  removeStop,
  type Stop,
} from "../../store/calls/mod.ts";
import { findSettingsFile } from "../../store/platform/mod.ts";
import { listKeys } from "../../store/keys/mod.ts";
import { listActiveFreezes } from "../../store/calendar/mod.ts";
import { UsageError } from "./_arguments.ts";
import { formatTable, runCommand } from "./_command.ts";
import { currentUser, OPERATOR } from "../_operator.ts";

const USAGE = `Usage: npm run governance -- show
       npm run governance -- stop all|key <key id>|tool <name> --reason "<sentence>" [--anyway]
       npm run governance -- resume all|key <key id>|tool <name>
       npm run governance -- check <file>

stop: from the next call on, refuses every call that changes something: of that key, by that tool, or all. Approved calls
that have not begun are not run. Repairs and undos of incident loops are refused too: by stop all, by a stop of the key that
requested the run, and by a stop of the tool itsm_run_loop. Drills do not begin. Reading, votes on approvals, cancelling runs
and revoking keys still work. stop and resume are sealed.
--anyway: stops a key or a tool that does not exist here, too.
check: checks a policy file. The file sealoop.governance.yaml in the data folder is applied when it changes.`;

/** Stops of everything that commands can't lift. */
const OTHER_STOPS: Readonly<Record<string, string>> = {
  [FILE_STOP]: "the governance file alone",
  [FLAG_STOP]: "the flag read_only, which an admin sets by POST /v1/admin/flags/read_only",
};

await runCommand(USAGE, {
  reason: { type: "string" },
  anyway: { type: "boolean" },
}, async (openStore, { words, options }) => {
  const [verb, ...rest] = words;
  if (verb === "show" && rest.length === 0) return await show(openStore());
  if (verb === "check" && rest.length === 1) return check(rest[0]!);
  if (verb !== "stop" && verb !== "resume") {
    throw new UsageError("Give one of show, stop, resume, check");
  }
  const target = readTarget(rest);
  if (verb === "resume") return await resume(openStore(), target);
  const { reason } = options;
  if (typeof reason !== "string" || reason === "") throw new UsageError("stop needs --reason");
  const store = openStore();
  if (options.anyway !== true) await refuseUnknown(store, target);
  await stop(store, { ...target, reason });
});

/** A stop without its reason. */
type StopTarget = Pick<Stop, "kind" | "name">;

/** Refuses a misspelt name, as its owner would believe it stopped. */
async function refuseUnknown(store: Store, target: StopTarget): Promise<void> {
  const problem = await findNameProblem(store, target);
  if (problem) throw new Error(`Nothing was stopped: ${problem} (--anyway stops it all the same)`);
}

async function findNameProblem(
  store: Store,
  { kind, name }: StopTarget,
): Promise<string | undefined> {
  if (kind === "all") return undefined;
  if (kind === "tool") {
    return nameError({
      name,
      operations: [...registry.values()],
      isAllowed: ({ effect }) => effect !== "read",
      otherwise: "only reads, and reading goes on",
    });
  }
  const valid = (await listKeys(store.asPlatform())).filter(({ revokedAt }) => !revokedAt);
  const ids = valid.map(({ id }) => id);
  if (ids.includes(name)) return undefined;
  const near = suggestion(similarNames(name, ids)) || "; npm run keys -- list shows them";
  return `there is no valid key ${name}${near}`;
}

function readTarget([kind, name = "", ...more]: readonly string[]): StopTarget {
  const isValid = kind === "all" && name === "" ||
    kind === "tool" && /^[\w.-]{1,200}$/.test(name) ||
    kind === "key" && /^[0-9a-f]{16}$/.test(name);
  if (!isValid || more.length > 0) {
    throw new UsageError("Give all, key and its id, or tool and its name");
  }
  return { kind: kind as Stop["kind"], name };
}

function nameOf({ kind, name }: StopTarget): string {
  return `${kind}${name ? ` ${name}` : ""}`;
}

async function stop(store: Store, target: Stop): Promise<void> {
  await store.asPlatform().transaction(async (trx) => {
    if (!await addStop(trx, target)) throw new Error(`${nameOf(target)} is stopped already`);
    await requestSeal(trx, receiptOf(target, "stopped"));
  });
  console.log(`Stopped ${nameOf(target)}`);
}

async function resume(store: Store, target: StopTarget): Promise<void> {
  await store.asPlatform().transaction(async (trx) => {
    if (!await removeStop(trx, target)) throw new Error(await explainNotStopped(trx, target));
    await requestSeal(trx, receiptOf({ ...target, reason: "" }, "resumed"));
  });
  const other = target.kind === "all" ? await describeOtherStop(store.asPlatform()) : undefined;
  console.log(other ? `Still stopped by ${other}` : `Resumed ${nameOf(target)}`);
}

/** Describes a stop of everything that no command has set; undefined: there is none. */
async function describeOtherStop(on: Db): Promise<string | undefined> {
  const all = (await listStops(on)).filter(({ kind }) => kind === "all");
  const stop = all.find(({ name }) => name in OTHER_STOPS);
  return stop && `${OTHER_STOPS[stop.name]}: ${stop.reason}`;
}

async function explainNotStopped(on: Db, target: StopTarget): Promise<string> {
  const other = target.kind === "all" ? await describeOtherStop(on) : undefined;
  return other ? `All calls are stopped by ${other}` : `${nameOf(target)} is not stopped`;
}

function receiptOf({ kind, name, reason }: Stop, outcome: "stopped" | "resumed") {
  return {
    category: "governance_stop",
    actor: OPERATOR,
    subject: name ? `${kind}:${name}` : kind,
    action: outcome === "stopped" ? "governance.stop" : "governance.resume",
    outcome,
    evidence: { reason, user: currentUser() },
  };
}

async function show(store: Store): Promise<void> {
  const stored = await currentPolicy(store.asPlatform(), "governance_policies");
  const policy = stored ? GOVERNANCE_POLICY.parse(stored.policy) : NO_RULES;
  const shipped = Object.entries(SHIPPED_RULES).map(([name, { then }]) => {
    return [name, "shipped", then, operationsOf(name as ShippedRuleName).join(", ")];
  });
  console.log(
    `Policy ${
      governanceVersion(stored)
    }; the first rule that matches decides, else the shipped rule of the operation\n`,
  );
  console.log(formatTable(
    ["rule", "from", "then", "when"],
    [
      ...policy.rules.map(({ name, then, when }) => [name, "policy", then, JSON.stringify(when)]),
      ...shipped,
    ],
  ));
  const file = await findSettingsFile(store.asPlatform(), "governance");
  if (file?.state === "refused") {
    const lines = file.mistakes.map(describeMistake).join("\n  ");
    console.log(`\nNOT APPLIED: ${file.path}\n  ${lines}\nThe policy above stays in force`);
  }
  const stops = await listStops(store.asPlatform());
  console.log(stops.length === 0 ? "\nNothing is stopped" : "\nStopped:");
  for (const one of stops) console.log(`  ${nameOf(one)}: ${one.reason}`);
  for (const { eventId, reason, end } of await listActiveFreezes(store.asPlatform())) {
    const by = eventId ? `the calendar's ${eventId}` : "the guardrails' policy";
    console.log(`\nFrozen until ${end.toISOString()} by ${by}: ${reason}`);
  }
}

/** Returns the operations that a shipped rule decides about, each as its example calls it. */
function operationsOf(rule: ShippedRuleName): string[] {
  return [...registry.values()]
    .filter((one) => isGoverned(one) && shippedRuleOf(one, one.example.input) === rule)
    .map(({ name }) => name);
}

function check(path: string): void {
  const file = readGovernanceFile(readFileSync(path, "utf8"));
  const unknown = unknownNamesIn(file, [...registry.values()]);
  if (unknown.length > 0) {
    const list = unknown.map((problem) => `\n  ${problem}`).join("");
    throw new Error(`${path} is valid, but some of its names do not exist:${list}`);
  }
  const { length } = file.policy.rules;
  console.log(`${path} is valid: ${length} ${length === 1 ? "rule" : "rules"}`);
}
