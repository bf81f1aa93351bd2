import type { CheckResult } from "../../contract/domain/mod.ts";
import { judgeCheck, type JudgeContext, type Verdict } from "./checks.ts";
import type { DeviceFacts } from "./facts.ts";
import type { ShieldPolicy, ShieldPolicyEntry } from "./policy.ts";

/** A policy judged for one device. */
export interface JudgedPolicy {
  readonly policy: ShieldPolicyEntry;
  readonly result: CheckResult;
  /** Reason, for people with a key of the tenant. */
  readonly reason: string;
}

/** Counts of results. What does not apply is not counted. */
export interface CheckCounts {
  readonly passed: number;
  readonly failed: number;
  readonly unknown: number;
}

/** Judges a device by each policy. */
export function judgeDevice(
  policy: ShieldPolicy,
  facts: DeviceFacts,
  context: JudgeContext,
): JudgedPolicy[] {
  return policy.policies.map((entry) => {
    const [result, reason] = judgePolicy(entry, policy, facts, context);
    return { policy: entry, result, reason };
  });
}

/** Counts results. */
export function countChecks(judged: readonly Pick<JudgedPolicy, "result">[]): CheckCounts {
  const count = (wanted: CheckResult) => judged.filter(({ result }) => result === wanted).length;
  return { passed: count("pass"), failed: count("fail"), unknown: count("unknown") };
}

function judgePolicy(
  { platforms, check }: ShieldPolicyEntry,
  { stale_after_hours }: ShieldPolicy,
  facts: DeviceFacts,
  context: JudgeContext,
): Verdict {
  if (!(platforms as readonly string[]).includes(facts.platform)) {
    return ["not_applicable", `It is not for ${facts.platform}`];
  }
  if (!facts.lastSeenAt) return ["unknown", "The device was not heard from yet"];
  const ageMs = context.now.getTime() - facts.lastSeenAt.getTime();
  if (ageMs > stale_after_hours * 3_600_000) {
    return ["unknown", `The device was not heard from for ${Math.floor(ageMs / 3_600_000)} hours`];
  }
  return judgeCheck(check, facts, context);
}
