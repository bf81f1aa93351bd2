import { cancellationSignal } from "@temporalio/activity";
import type {
  AnswerDraft,
  AnswerRequest,
  DiagnosisDraft,
  DiagnosisRequest,
  Draft,
  Lookup,
  PlanDraft,
  Review,
  ReviewedDiagnosis,
} from "../../domain/mod.ts";
import { type HealthCheck, probe } from "../../integrations/host/mod.ts";
import { redactSecrets } from "../../contract/mod.ts";
import {
  MAX_REPORT_LENGTH,
  NO_CAUSE,
  type WriteRequest,
  type WriteResult,
} from "../../engine/mod.ts";
import { getService, listServiceNames } from "../../store/mod.ts";
import { checkClaims, type CheckedClaims } from "./claims.ts";
import { findNames } from "./_prompt.ts";
import { LOOKUP_CHOICES } from "./_lookups.ts";
import type { ActivityParts } from "../parts.ts";

/** How far a model may be surer than what was measured. */
const MOST_ABOVE = 0.15;
/** From here on a cause was measured, and it is no answer that there is none. */
const MEASURED = 0.5;
/** Most services that a cause is chosen from. */
const MOST_SERVICES = 60;

/** What a model writes, and what the verifier makes of it. Asking costs money, so it is never tried again by itself. */
export function draftActivities({ store, engine }: ActivityParts) {
  async function ask(request: WriteRequest) {
    const signal = cancellationSignal();
    try {
      return await engine.write(redactSecrets(request), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  /** Those that were looked at, and others that the evidence names. */
  async function servicesOf({ evidence, services }: DiagnosisRequest): Promise<string[]> {
    const text = evidence.map((piece) => piece.text).join("\n");
    const named = findNames(text, await listServiceNames(store.asPlatform()));
    return [...new Set([...services, ...named])].slice(0, MOST_SERVICES);
  }

  async function isHealthy(name: string): Promise<boolean> {
    const check = (await getService(store.asPlatform(), name))?.check;
    return check ? (await probe(check as HealthCheck)).healthy : false;
  }

  /** What speaks against the cause that was named; undefined: nothing. */
  async function objectionToCause(
    { cause, diagnosis }: DiagnosisDraft,
    services: readonly string[],
    support: DiagnosisRequest["support"],
  ): Promise<string | undefined> {
    if (cause === NO_CAUSE) {
      const measured = Object.keys(support).find((name) => support[name]! >= MEASURED);
      return measured && `It names no cause, though what was measured speaks for ${measured}`;
    }
    if (!services.includes(cause)) {
      return `It names ${
        cause.slice(0, 60).toWellFormed()
      } as the cause, which is none of the services`;
    }
    if ((support[cause] ?? 0) < 0) return `What was measured speaks against ${cause} as the cause`;
    if (await isHealthy(cause)) return `${cause} answers its health check, so it is not the cause`;
    if (!diagnosis.text.toLowerCase().includes(cause.toLowerCase())) {
      return `The diagnosis does not name its cause, ${cause}`;
    }
    return undefined;
  }

  return {
    /** Asks a model for a diagnosis. @throws {EngineUnavailable} */
    async crewWrite(
      order: DiagnosisRequest,
      objections: readonly string[],
    ): Promise<Draft<DiagnosisDraft>> {
      const { diagnosis, ...by } = await ask({
        task: "diagnosis",
        report: order.incident.slice(0, MAX_REPORT_LENGTH).toWellFormed(),
        evidence: [...order.evidence],
        services: await servicesOf(order),
        objections: [...objections],
      });
      return drafted(diagnosis, by);
    },

    /**
     * Holds a model's diagnosis against the evidence, measures its cause again, and cuts its confidence to what that
     * supports. A step that does not hold is dropped; without cause, diagnosis and one step nothing is kept.
     *
     * @throws {EngineUnavailable} without the guardrails nothing is kept
     */
    async crewJudge(
      order: DiagnosisRequest,
      said: DiagnosisDraft,
    ): Promise<Review<ReviewedDiagnosis>> {
      const { incident: report, evidence, support } = order;
      const services = await servicesOf(order);
      const grounds = { report, evidence, services };
      const [cause, head, steps] = await Promise.all([
        objectionToCause(said, services, support),
        checkClaims(engine, [said.diagnosis], grounds),
        checkClaims(engine, said.steps, grounds),
      ]);
      const objections = [...new Set([cause ?? [], head.objections, steps.objections].flat())];
      const [diagnosis] = head.kept;
      if (cause || !diagnosis || head.injected || !isEnough(steps)) {
        return { kept: null, objections };
      }
      const none = said.cause === NO_CAUSE;
      const most = none ? 0 : Math.max(0, support[said.cause] ?? 0) + MOST_ABOVE;
      const kept = {
        cause: none ? null : said.cause,
        confidence: Math.round(Math.min(said.confidence, most) * 100) / 100,
        ...{ diagnosis, steps: steps.kept },
      };
      return { kept, objections };
    },

    /** Asks a model what to look at for a prompt that names nothing; looks that there are not are left out. @throws {EngineUnavailable} */
    async reasonChoose(prompt: string): Promise<Draft<PlanDraft>> {
      const services = (await listServiceNames(store.asPlatform())).slice(0, MOST_SERVICES);
      const { plan, ...by } = await ask({
        ...{
          task: "plan",
          report: prompt.slice(0, MAX_REPORT_LENGTH).toWellFormed(),
          evidence: [],
          objections: [],
        },
        ...{ services, tools: [...LOOKUP_CHOICES] },
      });
      return drafted(plan && { lookups: looksOf(plan.looks, services) }, by);
    },

    /** Asks a model for an answer. @throws {EngineUnavailable} */
    async reasonWrite(
      { prompt, evidence }: AnswerRequest,
      objections: readonly string[],
    ): Promise<Draft<AnswerDraft>> {
      const { answer, ...by } = await ask({
        task: "answer",
        report: prompt.slice(0, MAX_REPORT_LENGTH).toWellFormed(),
        ...{ evidence: [...evidence], services: [], objections: [...objections] },
      });
      return drafted(answer, by);
    },

    /** Holds a model's answer against what was seen; what does not hold is dropped. @throws {EngineUnavailable} */
    async reasonJudge(
      { prompt: report, evidence }: AnswerRequest,
      { claims }: AnswerDraft,
    ): Promise<Review<AnswerDraft>> {
      const services = findNames(
        [report, ...evidence.map(({ text }) => text)].join("\n"),
        await listServiceNames(store.asPlatform()),
      );
      const held = await checkClaims(engine, claims, { report, evidence, services });
      const kept = isEnough(held) ? { claims: held.kept } : null;
      return { kept, objections: [...held.objections] };
    },
  };
}

const isEnough = ({ kept, injected }: CheckedClaims) => kept.length > 0 && !injected;

function drafted<T>(
  said: T | null,
  { provider, model, asked, reason }: Pick<WriteResult, "provider" | "model" | "asked" | "reason">,
): Draft<T> {
  return { content: said, provider, model, asked, reason };
}

/** Those of a choice that there are, each once. */
function looksOf(
  chosen: readonly { readonly tool: string; readonly of: string }[],
  services: readonly string[],
): Lookup[] {
  const looks = chosen.flatMap(({ tool, of }): [string, Lookup][] => {
    const choice = LOOKUP_CHOICES.find(({ name }) => name === tool);
    if (!choice || choice.of_service && !services.includes(of)) return [];
    if (!choice.of_service) return [[tool, { tool, arguments: {} }]];
    return [[`${tool} ${of}`, { tool, arguments: { of } }]];
  });
  return [...new Map(looks).values()];
}
