import { asProblem } from "../../contract/mod.ts";
import { stricter } from "../../contract/domain/mod.ts";
import { findSecrets } from "../../judgement/guard/mod.ts";
import type { Platform } from "../platform.ts";
import type { CheckedCall } from "../run.ts";
import type { Evaluation } from "./_evaluation.ts";

/** Asks for a second opinion. The stricter decision holds; while there is no opinion, the call is denied. */
export async function withOpinion(
  { adviser, config }: Pick<Platform, "adviser" | "config">,
  { operation, request, caller, input }: CheckedCall,
  names: readonly string[],
  evaluation: Evaluation,
): Promise<Evaluation> {
  if (!adviser || operation.governance?.humanControl || evaluation.decision === "deny") {
    return evaluation;
  }
  try {
    const { decision, reasons, decisionId } = await adviser.ask({
      operation: operation.name,
      names,
      effect: operation.effect,
      door: request.door,
      environment: config.settings.SEALOOP_ENVIRONMENT,
      key: { id: caller.keyId, tier: caller.tier, tenant: caller.tenant },
      arguments: hideSecrets(input),
      decision: evaluation.decision,
      rule: evaluation.rule,
    });
    const isGrantable = evaluation.isGrantable && decision === "allow";
    const told = {
      ...evaluation,
      isGrantable,
      ...(decisionId === null ? {} : { opinionId: decisionId }),
    };
    if (stricter(decision, evaluation.decision) === evaluation.decision) return told;
    const because = reasons.length > 0 ? reasons : ["The policy of OPA says so"];
    return { ...told, decision, rule: "opa", reasons: because, callerApproves: false };
  } catch (error) {
    const problem = asProblem(error);
    const reasons = [`Nothing is allowed without a second opinion: ${problem.message}`];
    const denial = { decision: "deny", rule: "opa-away", reasons, problem } as const;
    return { ...evaluation, ...denial, callerApproves: false, isGrantable: false };
  }
}

/** Replaces texts that hold a secret. */
function hideSecrets(value: unknown): unknown {
  if (typeof value === "string") return findSecrets(value).length > 0 ? "[secret]" : value;
  if (Array.isArray(value)) return value.map(hideSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hideSecrets(one)]));
}
