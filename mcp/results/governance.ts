import type { GovernanceAnswer } from "../../contract/mod.ts";

/** Returns sentences about a call that governance answered in place of its operation. */
export function tellGovernance({ governance }: GovernanceAnswer): readonly string[] {
  const { decision, dry_run, rule, reasons, tool, approval_id, approval, next } = governance;
  const because = reasons.length > 0 ? `: ${reasons.join("; ")}` : "";
  if (dry_run) {
    return [
      `Nothing was done, as this was a dry run. The rule ${rule} says ${decision}${because}.`,
      next,
    ];
  }
  return [
    `Nothing was done yet: the rule ${rule} has people asked about ${tool}${because}.`,
    ...(approval ? [`They are asked: ${approval.description}`] : []),
    ...(approval_id && approval
      ? [
        `The approval is ${approval_id}, until ${approval.expires_at}. To decide: ${approval.decide}.`,
      ]
      : []),
    next,
  ];
}
