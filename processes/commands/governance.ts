/** `npm run governance -- …`: shows what decides on calls, stops them, and lets them go on. */
import { readFileSync } from "node:fs";
import {
  GOVERNANCE_POLICY,
  governanceVersion,
  nameError,
  NO_RULES,
  readGovernanceFile,
  SHIPPED_RULES,
  suggestion,
  unknownNamesIn,
} from "../../calls/governance/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import {
  addStop,
  currentPolicy,
  type Db,
  FILE_STOP,
  getPolicyFileStatus,
  listKeys,
  listStops,
  removeStop,
  type Stop,
  type Store,
} from "../../store/mod.ts";
import { similarNames } from "../../contract/mod.ts";
import { OPERATOR, runCommand, table, userHere } from "./_command.ts";
import { registry } from "../../operations/mod.ts";
import { Misused } from "./_typed.ts";

const USAGE = `Usage: npm run governance -- show
       npm run governance -- stop all|key <key id>|tool <name> --reason "<sentence>" [--anyway]
       npm run governance -- resume all|key <key id>|tool <name>
       npm run governance -- check <file>

stop: from the next call on, nothing that changes something is run, of that key, by that tool, or at all; what people have
approved and has not begun is not run either. The loop's own repairs and undoings are held too, by all, by the key that
asked for the run, and by the tool itsm_run_loop, and drills are not begun. Reading goes on, and so does what people decide
or stop by: approvals, cancelling runs, revoking keys. Sealed, as resuming is.
--anyway: also a key or a tool that is not here.
check: says whether a policy file can be put in force; sealoop.governance.yaml in the data folder is followed by itself.`;

await runCommand("governance", USAGE, {
  reason: { type: "string" },
  anyway: { type: "boolean" },
}, async (open, given) => {
  const [verb, ...rest] = given.words;
  if (verb === "show" && rest.length === 0) return await show(open());
  if (verb === "check" && rest.length === 1) return check(rest[0]!);
  if (verb !== "stop" && verb !== "resume") throw new Misused("There is show, stop, resume, check");
  const what = readStop(rest);
  if (verb === "resume") return await resume(open(), what);
  const { reason } = given.options;
  if (typeof reason !== "string" || reason === "") throw new Misused("stop needs --reason");
  const store = open();
  if (given.options.anyway !== true) await refuseUnknown(store, what);
  await stop(store, { ...what, reason });
});

/** Who stops what is misspelt would take it for stopped. */
async function refuseUnknown(store: Store, what: Pick<Stop, "kind" | "name">): Promise<void> {
  const why = await whyUnknown(store, what);
  if (why) throw new Error(`Nothing was stopped: ${why} (--anyway stops it all the same)`);
}

async function whyUnknown(
  store: Store,
  { kind, name }: Pick<Stop, "kind" | "name">,
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

function readStop([kind, name = "", ...more]: readonly string[]): Pick<Stop, "kind" | "name"> {
  const fits = kind === "all" && name === "" || kind === "tool" && /^[\w.-]{1,200}$/.test(name) ||
    kind === "key" && /^[0-9a-f]{16}$/.test(name);
  if (!fits || more.length > 0) throw new Misused("Say all, key and its id, or tool and its name");
  return { kind: kind as Stop["kind"], name };
}

function nameOf({ kind, name }: Pick<Stop, "kind" | "name">): string {
  return `${kind}${name ? ` ${name}` : ""}`;
}

async function stop(store: Store, what: Stop): Promise<void> {
  await store.asPlatform().transaction(async (trx) => {
    if (!await addStop(trx, what)) throw new Error(`${nameOf(what)} is stopped already`);
    await requestSeal(trx, receiptOf(what, "stopped"));
  });
  console.log(`Stopped ${nameOf(what)}`);
}

async function resume(store: Store, what: Pick<Stop, "kind" | "name">): Promise<void> {
  await store.asPlatform().transaction(async (trx) => {
    if (!await removeStop(trx, what)) throw new Error(await whyNotResumed(trx, what));
    await requestSeal(trx, receiptOf({ ...what, reason: "" }, "resumed"));
  });
  const still = (await listStops(store.asPlatform())).find(isOfFile);
  if (what.kind === "all" && still) console.log(`Still stopped: ${still.reason}`);
  else console.log(`${nameOf(what)} goes on`);
}

function isOfFile({ kind, name }: Stop): boolean {
  return kind === "all" && name === FILE_STOP;
}

async function whyNotResumed(on: Db, what: Pick<Stop, "kind" | "name">): Promise<string> {
  const stop = what.kind === "all" ? (await listStops(on)).find(isOfFile) : undefined;
  if (stop) return `Everything is stopped by the governance file alone: ${stop.reason}`;
  return `${nameOf(what)} is not stopped`;
}

function receiptOf({ kind, name, reason }: Stop, outcome: "stopped" | "resumed") {
  return {
    category: "governance_stop",
    actor: OPERATOR,
    subject: name ? `${kind}:${name}` : kind,
    action: outcome === "stopped" ? "governance.stop" : "governance.resume",
    outcome,
    evidence: { reason, user: userHere() },
  };
}

async function show(store: Store): Promise<void> {
  const stored = await currentPolicy(store.asPlatform(), "governance_policies");
  const policy = stored ? GOVERNANCE_POLICY.parse(stored.policy) : NO_RULES;
  const rules = [
    ...policy.rules.map((rule) => [rule, "policy"] as const),
    ...SHIPPED_RULES.map((rule) => [rule, "ships"] as const),
  ];
  console.log(
    `Policy ${governanceVersion(stored?.version ?? 0, policy)}; the first rule that fits decides\n`,
  );
  console.log(table(
    ["rule", "from", "then", "when"],
    rules.map(([rule, from]) => [rule.name, from, rule.then, JSON.stringify(rule.when)]),
  ));
  const file = await getPolicyFileStatus(store.asPlatform());
  if (file?.error) {
    console.log(
      `\nNOT FOLLOWED: the file ${file.path}: ${file.error}\nWhat is above stays in force`,
    );
  }
  const stops = await listStops(store.asPlatform());
  console.log(stops.length === 0 ? "\nNothing is stopped" : "\nStopped:");
  for (const one of stops) console.log(`  ${nameOf(one)}: ${one.reason}`);
}

function check(path: string): void {
  const file = readGovernanceFile(readFileSync(path, "utf8"));
  const misses = unknownNamesIn(file, [...registry.values()]);
  if (misses.length > 0) {
    const list = misses.map((miss) => `\n  ${miss}`).join("");
    throw new Error(`${path} would be put in force, but not all of it can ever fit:${list}`);
  }
  const { length } = file.policy.rules;
  console.log(`${path} can be put in force: ${length} ${length === 1 ? "rule" : "rules"}`);
}
