import { checkClaims, findNames } from "../../../operations/models/writing/mod.ts";
import type {
  DiagnosisDraft,
  DiagnosisRequest,
  Draft,
  Review,
  ReviewedDiagnosis,
} from "../../../contract/domain/mod.ts";
import { NO_CAUSE } from "../../../judgement/engine/mod.ts";
import { listServiceNames } from "../../../store/cmdb/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import { askModel, draftOf } from "../../models/mod.ts";
import { probeService } from "./_sources.ts";

/** Most by which a model's confidence may exceed the support by measurements. */
const MAX_EXCESS_CONFIDENCE = 0.15;
/** Support from which a service counts as the measured cause, so that "no cause" is no answer. */
const MEASURED_SUPPORT = 0.5;
/** Most services that a cause is chosen from. */
const MAX_SERVICES = 60;

/** Creates the activities by which a model writes the crew's diagnosis. */
export function diagnosisDraftActivities({ store, engine, config }: ActivityParts) {
  const db = store.db;

  /**
   * Asks a model for a diagnosis. Safe to repeat, as it only reads, but never retried, as it costs money.
   *
   * @throws {EngineUnavailable}
   */
  async function draftDiagnosis(
    request: DiagnosisRequest,
    objections: readonly string[],
  ): Promise<Draft<DiagnosisDraft>> {
    const { diagnosis, ...result } = await askModel(engine, {
      task: "diagnosis",
      report: request.incident,
      evidence: [...request.evidence],
      services: await possibleCauses(request),
      objections: [...objections],
    });
    return draftOf(diagnosis, result);
  }

  /**
   * Checks a model's diagnosis against the evidence, probes its cause again, and limits its confidence. A step that does
   * not hold is dropped; the cause, the diagnosis and one step have to hold. Safe to repeat: it only reads.
   *
   * @throws {EngineUnavailable} then nothing is kept
   */
  async function reviewDiagnosis(
    request: DiagnosisRequest,
    draft: DiagnosisDraft,
  ): Promise<Review<ReviewedDiagnosis>> {
    const { incident: report, evidence, support } = request;
    const services = await possibleCauses(request);
    const grounds = { tenant: store.tenant, report, evidence, services };
    const [causeObjection, diagnosis, steps] = await Promise.all([
      findCauseObjection(draft, services, support),
      checkClaims(engine, [draft.diagnosis], grounds),
      checkClaims(engine, draft.steps, grounds),
    ]);
    const all = [causeObjection ?? [], diagnosis.objections, steps.objections].flat();
    const objections = [...new Set(all)];
    const [keptDiagnosis] = diagnosis.kept;
    const hasInjection = diagnosis.hasInjection || steps.hasInjection;
    if (causeObjection || !keptDiagnosis || hasInjection || steps.kept.length === 0) {
      return { kept: null, objections };
    }
    const cause = draft.cause === NO_CAUSE ? null : draft.cause;
    const limit = cause === null ? 0 : Math.max(0, support[cause] ?? 0) + MAX_EXCESS_CONFIDENCE;
    const confidence = Math.round(Math.min(draft.confidence, limit) * 100) / 100;
    return {
      kept: { cause, confidence, diagnosis: keptDiagnosis, steps: steps.kept },
      objections,
    };
  }

  /** Returns the services that were examined, and others that the evidence names. */
  async function possibleCauses({ evidence, services }: DiagnosisRequest): Promise<string[]> {
    const text = evidence.map((piece) => piece.text).join("\n");
    const named = findNames(text, await listServiceNames(db));
    return [...new Set([...services, ...named])].slice(0, MAX_SERVICES);
  }

  /** @returns undefined: the cause holds */
  async function findCauseObjection(
    { cause, diagnosis }: DiagnosisDraft,
    services: readonly string[],
    support: DiagnosisRequest["support"],
  ): Promise<string | undefined> {
    if (cause === NO_CAUSE) {
      const measured = Object.keys(support).find((name) => support[name]! >= MEASURED_SUPPORT);
      return measured && `It names no cause, though what was measured speaks for ${measured}`;
    }
    if (!services.includes(cause)) {
      const shown = cause.slice(0, 60).toWellFormed();
      return `It names ${shown} as the cause, which is none of the services`;
    }
    if ((support[cause] ?? 0) < 0) return `What was measured speaks against ${cause} as the cause`;
    if ((await probeService({ store, config }, cause))?.healthy) {
      return `${cause} answers its health check, so it is not the cause`;
    }
    if (!diagnosis.text.toLowerCase().includes(cause.toLowerCase())) {
      return `The diagnosis does not name its cause, ${cause}`;
    }
    return undefined;
  }

  return { draftDiagnosis, reviewDiagnosis };
}
