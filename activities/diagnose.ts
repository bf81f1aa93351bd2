import { hostname } from "node:os";
import { SCAN_DETECTOR } from "../compliance/scans/mod.ts";
import type { Service } from "../integrations/host/mod.ts";
import {
  type Catalogue,
  matchRunbooks,
  NotApplicable,
  type ResolveContext,
  resolveRunbook,
  type Runbook,
  type RunbookIncident,
} from "../runbooks/mod.ts";
import { type Action, type Diagnosis, type Finding, type Severity, worse } from "../domain/mod.ts";
import { EngineUnavailable, MIN_ADVICE_CONFIDENCE } from "../engine/mod.ts";
import { addTicketEvent, type FindingRecord, getFinding, getRunbookValues } from "../store/mod.ts";
import { named, sourceHash } from "./_action.ts";
import { fieldOf } from "./_kinds.ts";
import { type ActivityParts, findService } from "./_parts.ts";
import type { RoundStep } from "./loop_steps.ts";

type Judgement = Pick<Diagnosis, "basis" | "classification" | "citations">;

const ALONE: Judgement = { basis: "runbook_alone", classification: null, citations: [] };
/** What is to be repaired. */
interface Subject {
  readonly service: Service;
  readonly disk?: ResolveContext["disk"];
  /** The file that the finding is about. */
  readonly file?: string;
}

const THIS_HOST = new Set(["localhost", "127.0.0.1", "::1", hostname()]);

/** The step that judges. */
export function diagnosing({ store, engine }: ActivityParts, catalogue: Catalogue) {
  /**
   * Asks the engine what it is, and finds the runbook for it; in later rounds the next one that fits, where there is one.
   * When the engine is away, or only guesses, what the finding and the service say has to do. Safe to repeat: it only looks.
   */
  async function diagnose(step: RoundStep): Promise<Diagnosis> {
    const { finding, ticket_id, code, round, run } = step;
    const [known, named] = await Promise.all([
      getFinding(store.asPlatform(), finding.fingerprint),
      finding.service === null ? undefined : findService(store.asPlatform(), finding.service),
    ]);
    const service = finding.service === null ? await hostOf(finding, known) : named;
    const judgement = await judge(finding, known?.summary ?? describe(service, finding, code));
    const { classification } = judgement;
    const scanned = known?.detector === SCAN_DETECTOR; // its words are about settings and packages, which are no incidents
    const guessed = !classification || classification.confidence < MIN_ADVICE_CONFIDENCE;
    const measured = scanned
      ? "security" as const
      : guessed
      ? fieldOf({ check: finding.check, code }, service?.type)
      : undefined;
    const category = measured ?? classification?.category ?? null;
    const { action, passed_over } = service
      ? await actionFor(
        {
          service,
          disk: diskOf(known),
          file: fileOf(known),
          category,
          text: wordsOf(finding, known),
        },
        step,
      )
      : { action: null, passed_over: [] };
    const diagnosis: Diagnosis = { cause: code, ...judgement, passed_over, action };
    const found = category !== null && {
      category,
      severity: classification && !scanned
        ? worse(classification.severity as Severity, finding.severity ?? "low") // a detector has measured, and is not talked down
        : "as it was",
    };
    await addTicketEvent(store.asPlatform(), ticket_id, {
      key: `${run.run_id}/diagnosed-${round}`,
      kind: "diagnosed",
      phase: "diagnosed",
      data: { round, category, ...shown(diagnosis) },
      ...found ? { found } : {},
    });
    return diagnosis;
  }

  /** This host, where the finding is about it and nothing else. */
  async function hostOf(
    { check }: Finding,
    known: FindingRecord | undefined,
  ): Promise<Service | undefined> {
    return check === "host" && known?.host === hostname()
      ? await findService(store.asPlatform(), known.host)
      : undefined;
  }

  async function judge({ report, check }: Finding, words: string): Promise<Judgement> {
    try {
      const { classification, provider } = await engine.classify({
        description: report ? report.slice(0, 4_000) : words,
        source: check,
      });
      const { category, severity, confidence, citations } = classification;
      return {
        basis: "engine_and_runbook",
        classification: { category, severity, confidence, provider },
        citations: citations.map(({ id, sha256 }) => ({ id, sha256 })),
      };
    } catch (error) {
      if (error instanceof EngineUnavailable) return ALONE;
      throw error;
    }
  }

  async function actionFor(
    { service, disk, file, category, text }: Pick<RunbookIncident, "category" | "text"> & Subject,
    { finding, code, round, run }: RoundStep,
  ): Promise<Pick<Diagnosis, "action" | "passed_over">> {
    const values = await getRunbookValues(store.asPlatform(), service.name);
    const fitting = matchRunbooks(catalogue.runbooks, {
      service,
      finding: { check: finding.check, code },
      category,
      text,
      gives: Object.keys(values),
      boundedFolder: disk?.maxBytes !== undefined,
      named: service.runbook ?? undefined,
    });
    const passed_over: { runbook: string; code: string }[] = [];
    const ready: Omit<Action, "id" | "sha256">[] = [];
    for (const runbook of fitting) {
      if (ready.length >= round) break;
      try {
        ready.push(madeReady(runbook, { service, disk, file }, values));
      } catch (error) {
        if (!(error instanceof NotApplicable)) throw error;
        passed_over.push({ runbook: runbook.runbook, code: error.code });
      }
    }
    const chosen = ready.at(-1);
    return { action: chosen ? named(chosen, run, round) : null, passed_over };
  }

  function madeReady(
    runbook: Runbook,
    { service, disk, file }: Subject,
    values: Awaited<ReturnType<typeof getRunbookValues>>,
  ): Omit<Action, "id" | "sha256"> {
    const { steps, exceeds } = resolveRunbook(runbook, {
      service: service.name,
      values,
      catalogue,
      here: THIS_HOST.has(service.host),
      disk,
      file,
    });
    return {
      runbook: runbook.runbook,
      version: runbook.version,
      service: service.name,
      steps,
      exceeds,
      source_sha256: sourceHash({ runbook, service, values, catalogue }),
    };
  }

  return { diagnose };
}

/** Words for what was found, where no detector has said it better. */
function describe(service: Service | undefined, { check }: Finding, code: string): string {
  const about = service ? `${service.name} (${service.type})` : "A service";
  return `${about} fails its ${check} check: ${code.replaceAll("_", " ")}`;
}

/** What a person or a detector says of it, in full. */
const wordsOf = ({ report = "" }: Finding, known: FindingRecord | undefined) =>
  `${report}\n${known?.summary ?? ""}\n${JSON.stringify(known?.detail ?? {})}`;

/** The disk that a finding is about. */
function diskOf(known: FindingRecord | undefined): Subject["disk"] {
  const { kind, path, max_bytes } = known?.target ?? {};
  if (kind !== "disk" || typeof path !== "string") return undefined;
  return { path, ...(typeof max_bytes === "number" ? { maxBytes: max_bytes } : {}) };
}

/** The file that a security scan has found. */
function fileOf(known: FindingRecord | undefined): string | undefined {
  const { path } = known?.target ?? {};
  return known?.detector === SCAN_DETECTOR && typeof path === "string" ? path : undefined;
}

function shown({ cause, basis, classification, citations, passed_over, action }: Diagnosis) {
  return {
    ...{ cause, basis, classification, passed_over },
    citations: citations.map(({ id }) => id),
    action: action?.runbook ?? null,
    ...(action
      ? { version: action.version, action_sha256: action.sha256, exceeds: action.exceeds }
      : {}),
  };
}
