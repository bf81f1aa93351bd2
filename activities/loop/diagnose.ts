import { hostname } from "node:os";
import { SCAN_DETECTOR } from "../../compliance/scans/mod.ts";
import {
  type Category,
  type Diagnosis,
  type Finding,
  type Severity,
  worse,
} from "../../domain/mod.ts";
import { EngineUnavailable, MIN_ADVICE_CONFIDENCE } from "../../engine/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { addTicketEvent, type FindingRecord, getFinding } from "../../store/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { categoryOf } from "./_category.ts";
import { createActionFinder } from "./_find_action.ts";
import type { RoundOrder } from "./_order.ts";
import { findService } from "./_services.ts";

/** The engine's classification, with the articles that support it. */
type Classification = Pick<Diagnosis, "basis" | "classification" | "citations">;

const UNCLASSIFIED: Classification = {
  basis: "runbook_alone",
  classification: null,
  citations: [],
};
const MAX_DESCRIPTION = 4_000;

/** Creates the activity that diagnoses. */
export function diagnoseActivities(parts: ActivityParts) {
  const { store, engine } = parts;
  const db = store.db;
  const findAction = createActionFinder(parts);

  /**
   * Classifies the fault by the engine, and finds a runbook for it; in later rounds the next one that matches. While the
   * engine is away, or only guesses, the finding and the service decide. Safe to repeat: it only reads, and adds one event
   * to the ticket.
   */
  async function diagnose(order: RoundOrder): Promise<Diagnosis> {
    const { finding, code } = order;
    const [record, namedService] = await Promise.all([
      getFinding(db, finding.fingerprint),
      finding.service === null ? undefined : findService(db, finding.service),
    ]);
    const service = finding.service === null ? await affectedHost(finding, record) : namedService;
    const description = record?.summary ?? describe(service, finding, code);
    const classified = await classify(finding, description);
    const category = chooseCategory(order, classified, service, record);
    const { action, passed_over } = service
      ? await findAction(order, { service, category, record })
      : { action: null, passed_over: [] };
    const diagnosis: Diagnosis = { cause: code, ...classified, passed_over, action };
    await recordDiagnosis(order, diagnosis, category, record);
    return diagnosis;
  }

  /** Returns this host, if the finding is about it and no service. */
  async function affectedHost(
    { check }: Finding,
    record: FindingRecord | undefined,
  ): Promise<Service | undefined> {
    return check === "host" && record?.host === hostname()
      ? await findService(db, record.host)
      : undefined;
  }

  async function classify({ report, check }: Finding, words: string): Promise<Classification> {
    try {
      const { classification, provider } = await engine.classify({
        description: report ? report.slice(0, MAX_DESCRIPTION) : words,
        source: check,
      }, store.tenant);
      const { category, severity, confidence, citations } = classification;
      return {
        basis: "engine_and_runbook",
        classification: { category, severity, confidence, provider },
        citations: citations.map(({ id, sha256 }) => ({ id, sha256 })),
      };
    } catch (error) {
      if (error instanceof EngineUnavailable) return UNCLASSIFIED;
      throw error;
    }
  }

  async function recordDiagnosis(
    { ticket_id, finding, round, run }: RoundOrder,
    diagnosis: Diagnosis,
    category: string | null,
    record: FindingRecord | undefined,
  ): Promise<void> {
    const found = category === null
      ? undefined
      : { category, severity: severityOf(finding, diagnosis, record) };
    await addTicketEvent(db, ticket_id, {
      key: `${run.run_id}/diagnosed-${round}`,
      kind: "diagnosed",
      phase: "diagnosed",
      data: { round, category, ...eventDataOf(diagnosis) },
      ...(found ? { found } : {}),
    });
  }

  return { diagnose };
}

/** Returns the category of a fault: as measured where the engine's is a guess, else the engine's. */
function chooseCategory(
  { finding, code }: RoundOrder,
  { classification }: Classification,
  service: Service | undefined,
  record: FindingRecord | undefined,
): Category | null {
  if (isScanned(record)) return "security"; // its text names settings and packages, which misleads the engine
  const isGuess = !classification || classification.confidence < MIN_ADVICE_CONFIDENCE;
  const measured = isGuess ? categoryOf({ check: finding.check, code }, service?.type) : undefined;
  return measured ?? (classification?.category as Category | undefined) ?? null;
}

/** Returns the severity for the ticket. The engine may raise what a detector measured, and not lower it. */
function severityOf(
  { severity = "low" }: Finding,
  { classification }: Diagnosis,
  record: FindingRecord | undefined,
): string {
  return classification && !isScanned(record)
    ? worse(classification.severity as Severity, severity)
    : "as it was";
}

function isScanned(record: FindingRecord | undefined): boolean {
  return record?.detector === SCAN_DETECTOR;
}

/** Describes a finding that no detector has described. */
function describe(service: Service | undefined, { check }: Finding, code: string): string {
  const subject = service ? `${service.name} (${service.type})` : "A service";
  return `${subject} fails its ${check} check: ${code.replaceAll("_", " ")}`;
}

function eventDataOf(
  { cause, basis, classification, citations, passed_over, action }: Diagnosis,
) {
  return {
    cause,
    basis,
    classification,
    passed_over,
    citations: citations.map(({ id }) => id),
    action: action?.runbook ?? null,
    ...(action
      ? { version: action.version, action_sha256: action.sha256, exceeds: action.exceeds }
      : {}),
  };
}
