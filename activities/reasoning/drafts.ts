import { checkClaims, findNames } from "../../operations/models/writing/mod.ts";
import type {
  AnswerDraft,
  AnswerRequest,
  Draft,
  Lookup,
  PlanDraft,
  ReasoningRequest,
  Review,
} from "../../contract/domain/mod.ts";
import { listServiceNames } from "../../store/cmdb/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { askModel, draftOf } from "../models/mod.ts";
import { LOOKUP_CHOICES } from "./lookups/mod.ts";

/** Most services that a model chooses from. */
const MAX_SERVICES = 60;

/** Creates the activities by which a model takes part in the pipeline. */
export function answerDraftActivities({ store, engine }: ActivityParts) {
  const db = store.db;

  /**
   * Asks a model for lookups, for a prompt that names nothing; unknown ones are left out. Safe to repeat, as it only
   * reads, but never retried, as it costs money.
   *
   * @throws {EngineUnavailable}
   */
  async function draftPlan(
    { prompt }: Pick<ReasoningRequest, "prompt">,
  ): Promise<Draft<PlanDraft>> {
    const services = (await listServiceNames(db)).slice(0, MAX_SERVICES);
    const { plan, ...result } = await askModel(engine, {
      task: "plan",
      report: prompt,
      evidence: [],
      services,
      tools: [...LOOKUP_CHOICES],
      objections: [],
    });
    return draftOf(plan && { lookups: knownLookups(plan.looks, services) }, result);
  }

  /**
   * Asks a model for an answer. Safe to repeat, as it only reads, but never retried, as it costs money.
   *
   * @throws {EngineUnavailable}
   */
  async function draftAnswer(
    { prompt, evidence }: AnswerRequest,
    objections: readonly string[],
  ): Promise<Draft<AnswerDraft>> {
    const { answer, ...result } = await askModel(engine, {
      task: "answer",
      report: prompt,
      evidence: [...evidence],
      services: [],
      objections: [...objections],
    });
    return draftOf(answer, result);
  }

  /**
   * Checks a model's answer against the evidence, and drops each sentence that does not hold. Safe to repeat: it only
   * reads.
   *
   * @throws {EngineUnavailable}
   */
  async function reviewAnswer(
    { prompt: report, evidence }: AnswerRequest,
    { claims }: AnswerDraft,
  ): Promise<Review<AnswerDraft>> {
    const texts = [report, ...evidence.map(({ text }) => text)].join("\n");
    const services = findNames(texts, await listServiceNames(db));
    const checked = await checkClaims(engine, claims, {
      tenant: store.tenant,
      report,
      evidence,
      services,
    });
    const isEnough = checked.kept.length > 0 && !checked.hasInjection;
    return { kept: isEnough ? { claims: checked.kept } : null, objections: checked.objections };
  }

  return { draftPlan, draftAnswer, reviewAnswer };
}

/** Returns the lookups of a choice that exist, each once. */
function knownLookups(
  chosen: readonly { readonly tool: string; readonly of: string }[],
  services: readonly string[],
): Lookup[] {
  const lookups = new Map<string, Lookup>();
  for (const { tool, of } of chosen) {
    const choice = LOOKUP_CHOICES.find(({ name }) => name === tool);
    if (!choice || choice.of_service && !services.includes(of)) continue;
    if (choice.of_service) lookups.set(`${tool} ${of}`, { tool, arguments: { of } });
    else lookups.set(tool, { tool, arguments: {} });
  }
  return [...lookups.values()];
}
