/** The checks that a policy may name: their parameters, and how the facts of a device decide them. */
import { hash } from "node:crypto";
import { z } from "zod";
import type { CheckResult } from "../../contract/domain/mod.ts";
import {
  Agent,
  type DeviceFacts,
  type DeviceFirewall,
  Listener,
  Os,
  Sshd,
  Updates,
} from "./facts.ts";
import { supportEnd } from "./releases.ts";

/** Values that checks compare a device's facts with. */
export interface JudgeContext {
  readonly now: Date;
  /** SHA-256 of the agent that the platform serves. */
  readonly agentSha256: string;
  /** Rules that the device's firewall is to have; undefined: none are desired. */
  readonly desiredFirewall: string | undefined;
}

/** Result of a check, with its reason for people. */
export type Verdict = readonly [result: CheckResult, reason: string];

const DAY_MS = 86_400_000;
/** The agent lists no more listeners than this, so a full list may lack some. */
const MAX_LISTENERS = 500;
const EMPTY_RULESET = hash("sha256", "");

const Port = z.string().regex(/^(tcp|udp)\/\d{1,5}$/, "Expected a port as tcp/22");
const Values = z.array(z.string().min(1).max(50)).min(1);
const on = z.literal(true);

const DiskEncrypted = z.strictObject({ disk_encrypted: on });
const FirewallActive = z.strictObject({ firewall_active: on });
const TimeSynchronized = z.strictObject({ time_synchronized: on });
const PendingUpdates = z.strictObject({
  updates: z.strictObject({
    security: z.number().int().min(0).max(100_000).default(0)
      .describe("Most pending security updates"),
    pending: z.number().int().min(0).max(100_000).optional()
      .describe("Most pending updates of any kind"),
    listed_within_days: z.number().min(1).max(365).default(14)
      .describe("Age of the device's lists of updates from which on nothing is known"),
  }),
});
const SshServer = z.strictObject({
  sshd: z.strictObject({
    password_authentication: Values.optional().describe("Values that are right"),
    permit_root_login: Values.optional().describe("Values that are right"),
  }),
});
const Listeners = z.strictObject({
  listeners: z.strictObject({
    refused: z.array(Port).default([]).describe("Ports that nothing may listen on"),
    allowed: z.array(Port).optional().describe("The only ports that may be listened on"),
  }).describe("Loopback addresses don't count"),
});
const SupportedRelease = z.strictObject({
  release: z.strictObject({
    supported_for_days: z.number().int().min(0).max(3_650).default(0)
      .describe("Days for which there must still be updates"),
  }),
});
const RootAccounts = z.strictObject({ uid_0: z.array(z.string().min(1).max(100)).min(1) });
const AgentUnchanged = z.strictObject({ agent: z.literal("current") });
const FirewallDesired = z.strictObject({ firewall: z.literal("as_desired") });

/** A check as a policy names it. */
export const Check = z.union([
  DiskEncrypted,
  FirewallActive,
  TimeSynchronized,
  PendingUpdates,
  SshServer,
  Listeners,
  SupportedRelease,
  RootAccounts,
  AgentUnchanged,
  FirewallDesired,
]).describe("One check with its bounds");

/** A check as a policy names it. */
export type Check = z.output<typeof Check>;

/** Decides a check. Facts that are absent, or not of their form, leave it unknown. */
export function judgeCheck(check: Check, facts: DeviceFacts, context: JudgeContext): Verdict {
  if ("disk_encrypted" in check) {
    return judgeFlag(facts.posture.disk_encrypted, "The disk is encrypted", "The disk is plain");
  }
  if ("time_synchronized" in check) {
    const { time_synchronized } = facts.posture;
    return judgeFlag(time_synchronized, "The clock is synchronized", "The clock runs free");
  }
  if ("firewall_active" in check) return judgeFirewallActive(facts);
  if ("firewall" in check) return judgeDesiredFirewall(facts, context);
  if ("updates" in check) return judgeUpdates(check.updates, facts, context);
  if ("sshd" in check) return judgeSshd(check.sshd, facts);
  if ("listeners" in check) return judgeListeners(check.listeners, facts);
  if ("release" in check) return judgeRelease(check.release, facts, context);
  if ("uid_0" in check) return judgeRootAccounts(check.uid_0, facts);
  return judgeAgent(facts, context);
}

function judgeFlag(fact: unknown, right: string, wrong: string): Verdict {
  if (fact === true) return ["pass", right];
  return fact === false ? ["fail", wrong] : unknown();
}

function judgeFirewallActive({ posture, firewall }: DeviceFacts): Verdict {
  if (firewall?.backend === "nft" && firewall.observed_sha256 === EMPTY_RULESET) {
    return ["fail", "nft has no rules at all"];
  }
  const isOurs = firewall?.applied_sha256 !== null && firewall?.drift === false;
  return isOurs || posture.firewall_active === true
    ? ["pass", "A firewall is in force"]
    : unknown();
}

/**
 * Returns whether the desired rules are not in force on a device.
 *
 * @param desired undefined: none are
 * @returns null: it is not known, or none are desired
 */
export function firewallDrift(
  firewall: DeviceFirewall | null,
  desired: string | undefined,
): boolean | null {
  if (!firewall || desired === undefined) return null;
  return firewall.applied_sha256 === hash("sha256", desired) ? firewall.drift : true;
}

function judgeDesiredFirewall(
  { firewall }: DeviceFacts,
  { desiredFirewall }: JudgeContext,
): Verdict {
  if (desiredFirewall === undefined) return ["not_applicable", "No rules are desired"];
  const drift = firewallDrift(firewall, desiredFirewall);
  if (!firewall || drift === null) return unknown();
  if (!drift) return ["pass", "The desired rules are in force"];
  if (firewall.applied_sha256 === null) return ["fail", "The desired rules were not applied"];
  return firewall.drift
    ? ["fail", "The rules were changed since they were applied"]
    : ["fail", "Other rules than the desired ones were applied"];
}

function judgeUpdates(
  { security, pending, listed_within_days }: z.output<typeof PendingUpdates>["updates"],
  { posture }: DeviceFacts,
  { now }: JudgeContext,
): Verdict {
  const { data } = Updates.safeParse(posture.updates);
  if (!data) return unknown();
  const ageMs = now.getTime() - data.listed_at * 1_000;
  if (ageMs > listed_within_days * DAY_MS) {
    return ["unknown", `The lists of updates are ${Math.floor(ageMs / DAY_MS)} days old`];
  }
  if (ageMs < -DAY_MS) return ["unknown", "The lists of updates come from the future"];
  if (data.security > security) return ["fail", `${data.security} security updates are pending`];
  if (pending !== undefined && data.pending > pending) {
    return ["fail", `${data.pending} updates are pending`];
  }
  return ["pass", `${data.security} security updates are pending`];
}

function judgeSshd(
  allowed: z.output<typeof SshServer>["sshd"],
  { posture }: DeviceFacts,
): Verdict {
  const { data } = Sshd.safeParse(posture.sshd);
  if (!data) return unknown();
  if (!data.installed) return ["not_applicable", "There is no SSH server"];
  for (const name of ["password_authentication", "permit_root_login"] as const) {
    const value = data[name];
    const values = allowed[name];
    if (!values) continue;
    if (value === undefined) return unknown();
    if (!values.includes(value)) return ["fail", `${name} is ${value}`];
  }
  return ["pass", "The SSH server's options are right"];
}

function judgeListeners(
  { refused, allowed }: z.output<typeof Listeners>["listeners"],
  { listeners }: DeviceFacts,
): Verdict {
  const { data } = z.array(Listener).safeParse(listeners);
  if (!data) return unknown();
  const open = data.filter(({ address }) => !/^(127\.|::1$|::ffff:127\.)/.test(address))
    .map(({ protocol, port }) => `${protocol}/${port}`);
  const wrong = open.filter((port) => refused.includes(port) || allowed?.includes(port) === false);
  if (wrong.length > 0) {
    return ["fail", `Something listens on ${[...new Set(wrong)].slice(0, 20).join(", ")}`];
  }
  if (data.length >= MAX_LISTENERS) return ["unknown", "The device listens on too many ports"];
  return ["pass", "Nothing listens on a wrong port"];
}

function judgeRelease(
  { supported_for_days }: z.output<typeof SupportedRelease>["release"],
  { os }: DeviceFacts,
  { now }: JudgeContext,
): Verdict {
  const { data } = Os.safeParse(os);
  const end = data && supportEnd(data);
  if (!data || !end) return unknown();
  const name = `${data.id} ${data.version}`;
  if (end === "rolling") return ["not_applicable", `${name} has no releases`];
  const day = end.toISOString().slice(0, 10);
  const leftMs = end.getTime() + DAY_MS - now.getTime(); // the last day counts
  return leftMs > supported_for_days * DAY_MS
    ? ["pass", `${name} is supported until ${day}`]
    : ["fail", `${name} ${leftMs > 0 ? "is" : "was"} supported until ${day}`];
}

function judgeRootAccounts(allowed: readonly string[], { posture }: DeviceFacts): Verdict {
  const { data } = z.array(z.string()).safeParse(posture.uid_0);
  if (!data) return unknown();
  const others = data.filter((name) => !allowed.includes(name));
  return others.length > 0
    ? ["fail", `${others.length} other accounts have the user id 0`]
    : ["pass", "No other account has the user id 0"];
}

function judgeAgent({ agent }: DeviceFacts, { agentSha256 }: JudgeContext): Verdict {
  const { data } = Agent.safeParse(agent);
  if (!data) return unknown();
  return data.sha256 === agentSha256
    ? ["pass", `The agent is version ${data.version}, as served`]
    : ["fail", `The agent calls itself version ${data.version}, and is another file`];
}

function unknown(): Verdict {
  return ["unknown", "The device does not tell"];
}
