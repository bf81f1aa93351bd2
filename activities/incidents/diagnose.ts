import {
  decidingReading,
  type FailingDependency,
  findFailingDependencies,
  judgeFault,
  type Judgement,
} from "../../judgement/detection/mod.ts";
import {
  type Diagnosis,
  type Finding,
  type NumberedObservation,
  OBSERVED,
  RESTART_ASKED,
  type Severity,
  worse,
} from "../../contract/domain/mod.ts";
import { type ClassifyResult, EngineUnavailable } from "../../judgement/engine/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import {
  addTicketEvent,
  type FindingRecord,
  getFinding,
  listObservations,
  readDecisionBasis,
} from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { actionIdOf } from "./_action_id.ts";
import { createActionFinder } from "./_find_action.ts";
import { type CauseJudgement, factsOf, judgeCause } from "../../judgement/observation/mod.ts";
import type { RoundOrder } from "./_order.ts";
import { createHypothesisOrder } from "./_hypotheses.ts";
import { findService } from "./_services.ts";

/** The facts about a fault that a diagnosis rests on. */
interface Facts {
  readonly service: Service | undefined;
  /** As its detector recorded it. */
  readonly record: FindingRecord | undefined;
  readonly failing: readonly FailingDependency[];
}

/** The kind of a fault, and what supports it. */
type Verdict = Pick<Diagnosis, "basis" | "classification">;

/** The judgement of the observations, as a diagnosis has it. */
type CauseVerdict = Pick<
  Diagnosis,
  "cause" | "cause_confidence" | "observations" | "alternatives"
>;

const MAX_DESCRIPTION = 4_000;

/** Creates the activity that diagnoses. */
export function diagnoseActivities(parts: ActivityParts) {
  const { store, engine, config } = parts;
  const db = store.db;
  const findAction = createActionFinder(parts);
  const orderHypotheses = createHypothesisOrder(parts);

  /**
   * Names the cause by what was observed in this round, tells the kind of the fault, and finds a runbook for it; in later
   * rounds another one than those that did not help. What was measured decides. The engine reads what people and logs say, and finds articles
   * about the fault. Safe to repeat: it only reads, and adds one event to the ticket.
   */
  async function diagnose(order: RoundOrder): Promise<Diagnosis> {
    const { finding, code } = order;
    const basis = await readDecisionBasis(db, finding.service);
    const facts = await gatherFacts(finding);
    const { service, record } = facts;
    const measured = judge(order, facts);
    const words = finding.report || linesOf(record);
    const answer = await askEngine(finding, words, measured);
    const observations = await readObservations(order);
    const judged = judgeCause(service?.name ?? finding.service ?? "The service", {
      code,
      observations,
    });
    const ordered = await orderHypotheses(order, judged, observations);
    const said = decide(finding, measured, words === undefined ? undefined : answer);
    const verdict = withCause(said, judged, severityOf(finding, answer));
    const category = verdict.classification?.category ?? null;
    const { action, passed_over } = service
      ? await findAction(order, {
        service,
        category,
        cause: judged.cause,
        record,
        facts: factsOf(observations),
      })
      : { action: null, passed_over: [] };
    const citations = answer?.classification.citations ?? [];
    const reasons = {
      ...verdict,
      citations: citations.map(({ id, sha256 }) => ({ id, sha256 })),
    };
    const diagnosis: Diagnosis = {
      symptom: code,
      ...causeOf(judged),
      ...(ordered && ordered.hypotheses.length > 0
        ? {
          hypotheses: {
            written_by: ordered.written_by,
            order: ordered.hypotheses.map(({ cause, evidence }) => ({
              cause,
              observations: evidence,
            })),
          },
        }
        : {}),
      ...reasons,
      passed_over: passed_over.map(({ runbook, code }) => ({ runbook, code })),
      action: action && {
        ...action,
        id: await actionIdOf(store, { ...order, diagnosis: reasons, action }),
      },
    };
    await recordDiagnosis(order, diagnosis, {
      basis,
      cause_says: judged.says,
      passed_over,
      ...(ordered ? { hypotheses: ordered } : {}),
      ...(measured ? { says: measured.says, because: measured.because } : {}),
      ...(measured && words !== undefined && answer ? { reading: readingOf(answer) } : {}),
    });
    return diagnosis;
  }

  /** Returns what the sources have seen in this round. */
  async function readObservations(
    { ticket_id, run, round }: RoundOrder,
  ): Promise<NumberedObservation[]> {
    const all = await listObservations(db, ticket_id, run.run_id);
    return all.filter((one) => one.round === round);
  }

  async function gatherFacts(finding: Finding): Promise<Facts> {
    const { service: name, fingerprint } = finding;
    const [record, service, failing] = await Promise.all([
      getFinding(db, fingerprint),
      name === null ? undefined : findService(db, name),
      name === null ? [] : findFailingDependencies(db, name),
    ]);
    return {
      service: name === null ? await affectedHost(finding, record) : service,
      record,
      failing,
    };
  }

  /** Returns this host, or a device, if the finding is about it and no service. */
  async function affectedHost(
    { check }: Finding,
    record: FindingRecord | undefined,
  ): Promise<Service | undefined> {
    const isHost = record?.host === config.place || record?.target.kind === "device";
    return check === "host" && isHost ? await findService(db, record!.host!) : undefined;
  }

  /** Asks the engine about words, or about what was measured. @returns undefined: it is away */
  async function askEngine(
    { check }: Finding,
    words: string | undefined,
    measured: Judgement | undefined,
  ): Promise<ClassifyResult | undefined> {
    const description = words ?? String(measured!.says);
    try {
      return await engine.classify({
        description: description.slice(0, MAX_DESCRIPTION),
        source: check,
        ...(words === undefined && measured
          ? { measured: { category: measured.category, article: measured.article } }
          : {}),
      }, store.tenant);
    } catch (error) {
      if (error instanceof EngineUnavailable) return undefined;
      throw error;
    }
  }

  async function recordDiagnosis(
    { ticket_id, round, run }: RoundOrder,
    diagnosis: Diagnosis,
    reasons: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const { classification } = diagnosis;
    await addTicketEvent(db, ticket_id, {
      key: `${run.run_id}/diagnosed-${round}`,
      kind: "diagnosed",
      phase: "diagnosed",
      data: {
        round,
        category: classification?.category ?? null,
        ...eventDataOf(diagnosis),
        ...reasons,
      },
      ...(classification ? { found: classification } : {}),
    });
  }

  return { diagnose };
}

/** Judges what was measured. @returns undefined: nothing was, as with a report about no service that can be probed */
function judge(
  { finding: { check }, code }: RoundOrder,
  facts: Facts,
): Judgement | undefined {
  return check === "report" ? undefined : judgeFault({ check, code, ...facts });
}

/** Returns the lines of a log that a finding is about; undefined: it is about none. */
function linesOf(record: FindingRecord | undefined): string | undefined {
  const { samples } = record?.detail ?? {};
  return Array.isArray(samples) && samples.length > 0 ? samples.join("\n") : undefined;
}

/** @param answer to words about the fault; undefined: there are none, or the engine was away */
function decide(
  finding: Finding,
  measured: Judgement | undefined,
  answer: ClassifyResult | undefined,
): Verdict {
  const reading = answer && { ...answer.classification, provider: answer.provider };
  if (!measured) {
    if (!reading) return { basis: "runbook_alone", classification: null };
    const { category, confidence, provider } = reading;
    const severity = finding.code === RESTART_ASKED
      ? severityOf(finding, undefined)
      : reading.severity;
    return { basis: "words", classification: { category, severity, confidence, provider } };
  }
  const deciding = decidingReading(measured, reading);
  const { category, confidence } = deciding ?? measured;
  const provider = deciding?.provider ?? finding.detector ?? finding.check;
  const severity = severityOf(finding, answer);
  return {
    basis: deciding ? "words" : "measured",
    classification: { category, severity, confidence, provider },
  };
}

function causeOf({ cause, confidence, observations, alternatives }: CauseJudgement): CauseVerdict {
  return { cause, cause_confidence: confidence, observations, alternatives };
}

/** A cause that was observed decides the category. One by the code alone does not. */
function withCause(
  said: Verdict,
  { category, confidence, observations }: CauseJudgement,
  severity: Severity,
): Verdict {
  if (category === null || observations.length === 0) return said;
  return {
    basis: "observed",
    classification: { category, severity, confidence, provider: OBSERVED },
  };
}

/** Returns the severity of a measured fault. A person who reports it may raise it. */
function severityOf(
  { severity = "high", report }: Finding,
  answer: ClassifyResult | undefined,
): Severity {
  return report === undefined || !answer
    ? severity
    : worse(answer.classification.severity, severity);
}

function readingOf({ classification: { category, confidence }, provider }: ClassifyResult) {
  return { category, confidence, provider };
}

function eventDataOf({ action, citations, ...judged }: Diagnosis) {
  return {
    ...judged,
    citations: citations.map(({ id }) => id),
    action: action?.runbook ?? null,
    ...(action
      ? { version: action.version, action_sha256: action.sha256, exceeds: action.exceeds }
      : {}),
  };
}
