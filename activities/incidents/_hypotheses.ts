import { activityInfo } from "@temporalio/activity";
import type { Evidence, NumberedObservation } from "../../contract/domain/mod.ts";
import { EngineUnavailable, type WriteResult } from "../../judgement/engine/mod.ts";
import type { CauseJudgement, Hypothesis } from "../../judgement/observation/mod.ts";
import { checkClaims } from "../../operations/models/writing/mod.ts";
import { askModel } from "../models/mod.ts";
import type { ActivityParts } from "../parts.ts";
import type { RoundOrder } from "./_order.ts";

/** Hypotheses as a model has ordered and worded them, as far as that holds. */
interface WrittenHypotheses {
  /** Name of the model. */
  readonly written_by: string;
  readonly hypotheses: readonly {
    readonly cause: string;
    readonly text: string;
    /** Numbers of the observations that the text cites. */
    readonly evidence: readonly number[];
  }[];
  /** Why other parts of what it wrote were dropped. */
  readonly dropped: readonly string[];
}

type Order = NonNullable<WriteResult["hypotheses"]>["order"];

const MAX_EVIDENCE = 60;
const MAX_TEXT = 240;

/** Creates the function that lets a model order what nothing rules out. */
export function createHypothesisOrder({ store, engine }: ActivityParts) {
  /**
   * Has a model order and word the hypotheses, by the observations alone. It may name none but those that were offered, and
   * each of its sentences has to hold against what it cites. It changes neither the cause nor what is done.
   *
   * A model costs money: it is asked once, at the first attempt.
   *
   * @returns undefined: no model is configured or gave an answer, or there is nothing to order
   */
  return async (
    { finding, code }: RoundOrder,
    { hypotheses }: CauseJudgement,
    observations: readonly NumberedObservation[],
  ): Promise<WrittenHypotheses | undefined> => {
    if (hypotheses.length < 2 || activityInfo().attempt > 1) return undefined;
    const report = `${finding.service ?? "A host"}: ${code.replaceAll("_", " ")}`;
    const evidence = evidenceOf(hypotheses, observations);
    const services = finding.service === null ? [] : [finding.service];
    try {
      const { hypotheses: written, model } = await askModel(engine, {
        task: "hypotheses",
        report,
        evidence,
        services,
        hypotheses: hypotheses.slice(0, 8).map(({ cause, says, observations }) => ({
          cause,
          says: String(says).slice(0, 200).toWellFormed(),
          evidence: observations.slice(0, 40),
        })),
        objections: [],
      });
      if (!written || model === null) return undefined;
      const grounds = { tenant: store.tenant, report, evidence, services };
      return { written_by: model, ...await keepWhatHolds(written.order, hypotheses, grounds) };
    } catch (error) {
      if (error instanceof EngineUnavailable) return undefined;
      throw error;
    }
  };

  async function keepWhatHolds(
    order: Order,
    offered: readonly Hypothesis[],
    grounds: Parameters<typeof checkClaims>[2],
  ): Promise<Pick<WrittenHypotheses, "hypotheses" | "dropped">> {
    const dropped: string[] = [];
    const kept = new Map<string, WrittenHypotheses["hypotheses"][number]>();
    for (const { cause, why } of order) {
      const hypothesis = offered.find((one) => one.cause === cause);
      const checked = await checkClaims(engine, [why], grounds);
      if (checked.hasInjection) return { hypotheses: [], dropped: checked.objections.slice() };
      const objection = hypothesis
        ? checked.objections[0] ?? objectionTo(hypothesis, why.evidence)
        : `It names ${cause.slice(0, 60).toWellFormed()} as a cause, which was not offered`;
      if (objection !== undefined) dropped.push(objection);
      else if (!kept.has(cause)) {
        const [{ text, evidence }] = checked.kept as [typeof why];
        kept.set(cause, { cause, text, evidence });
      }
    }
    return { hypotheses: [...kept.values()], dropped };
  }
}

/** @returns undefined: an observation that speaks for it is cited, or none does but the code of the check */
function objectionTo(
  { cause, observations }: Hypothesis,
  cited: readonly number[],
): string | undefined {
  return observations.length === 0 || cited.some((number) => observations.includes(number))
    ? undefined
    : `It cites nothing that speaks for ${cause}`;
}

/** Returns the observations as evidence: those that speak for a hypothesis, and then others. */
function evidenceOf(
  hypotheses: readonly Hypothesis[],
  observations: readonly NumberedObservation[],
): Evidence[] {
  const telling = new Set(hypotheses.flatMap((one) => one.observations));
  return [
    ...observations.filter(({ number }) => telling.has(number)),
    ...observations.filter(({ number }) => !telling.has(number)),
  ].slice(0, MAX_EVIDENCE).map(({ number, source, says, text }) => ({
    n: number,
    from: source,
    text: `${says} ${(text ?? "").slice(-MAX_TEXT)}`.trim().slice(0, MAX_TEXT).toWellFormed(),
  }));
}
