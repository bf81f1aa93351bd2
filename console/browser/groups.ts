import { canonicalize } from "../../ledger/rules/mod.ts";
import type { Approval } from "./shapes.ts";

/** Fields of an action that name what it is done to. */
const TARGETS = new Set(["service", "target", "device_id", "host"]);

/** Approvals whose acts are equal but for what they are done to, the longest wait first. */
export function groupEqual(approvals: readonly Approval[]): readonly (readonly Approval[])[] {
  const groups = new Map<string, Approval[]>();
  for (const one of approvals) {
    const act = Object.entries(one.action).filter(([name]) => !TARGETS.has(name));
    const key = canonicalize([one.rule, Object.fromEntries(act)]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}
