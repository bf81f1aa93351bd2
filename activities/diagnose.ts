import { hostname } from "node:os";
import { EngineAway } from "../engine/mod.ts";
import type { Service } from "../integrations/mod.ts";
import {
  type Catalogue,
  fittingRunbooks,
  NotApplicable,
  resolve,
  type Runbook,
} from "../integrations/runbooks/mod.ts";
import { addTicketEvent, noteDiagnosis, runbookValues } from "../store/mod.ts";
import type { Action, Diagnosis, Finding } from "../workflows/mod.ts";
import { named, sourceHash } from "./_action.ts";
import { type ActivityParts, serviceOf } from "./_parts.ts";
import type { RoundStep } from "./loop_steps.ts";

type Judgement = Pick<Diagnosis, "basis" | "classification" | "citations">;

const ALONE: Judgement = { basis: "runbook_alone", classification: null, citations: [] };
const THIS_HOST = new Set(["localhost", "127.0.0.1", "::1", hostname()]);

/** The step that judges. */
export function diagnosing({ store, engine }: ActivityParts, catalogue: Catalogue) {
  /**
   * Asks the engine what it is, and finds the runbook for it; in later rounds the next one that fits, where there is one.
   * When the engine is away, what the finding and the service say has to do. Safe to repeat: it only looks.
   */
  async function diagnose(step: RoundStep): Promise<Diagnosis> {
    const { finding, ticket_id, code, round, run } = step;
    const service = await serviceOf(store.knex, finding);
    const judgement = await judge(finding, service, code);
    const { action, passed_over } = service
      ? await actionFor(service, step, judgement.classification?.category ?? null)
      : { action: null, passed_over: [] };
    const diagnosis: Diagnosis = { cause: code, ...judgement, passed_over, action };
    if (diagnosis.classification) {
      await noteDiagnosis(store.knex, ticket_id, diagnosis.classification);
    }
    await addTicketEvent(store.knex, ticket_id, {
      key: `${run.run_id}/diagnosed-${round}`,
      kind: "diagnosed",
      phase: "diagnosed",
      data: { round, ...shown(diagnosis) },
    });
    return diagnosis;
  }

  async function judge(
    finding: Finding,
    service: Service | undefined,
    code: string,
  ): Promise<Judgement> {
    try {
      const { classification, provider } = await engine.classify({
        description: describe(finding, service, code),
        source: finding.check,
      });
      const { category, severity, confidence, citations } = classification;
      return {
        basis: "engine_and_runbook",
        classification: { category, severity, confidence, provider },
        citations: citations.map(({ id, sha256 }) => ({ id, sha256 })),
      };
    } catch (error) {
      if (error instanceof EngineAway) return ALONE;
      throw error;
    }
  }

  async function actionFor(
    service: Service,
    { finding, code, round, run }: RoundStep,
    category: string | null,
  ): Promise<Pick<Diagnosis, "action" | "passed_over">> {
    const values = await runbookValues(store.knex, service.name);
    const fitting = fittingRunbooks(catalogue.runbooks, {
      service,
      finding: { check: finding.check, code },
      category,
      named: namedBy(service),
    });
    const passed_over: { runbook: string; code: string }[] = [];
    const ready: Omit<Action, "id" | "sha256">[] = [];
    for (const runbook of fitting) {
      if (ready.length >= round) break;
      try {
        ready.push(madeReady(runbook, service, values));
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
    service: Service,
    values: Awaited<ReturnType<typeof runbookValues>>,
  ): Omit<Action, "id" | "sha256"> {
    const { steps, exceeds } = resolve(runbook, {
      service: service.name,
      values,
      catalogue,
      here: THIS_HOST.has(service.host),
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

/** The runbook that the services file names for a service. */
const namedBy = ({ runbook }: Service & { runbook?: string | null }) => runbook ?? undefined;

/** What the engine is told: a person's own words, or what was found. */
function describe({ report, check }: Finding, service: Service | undefined, code: string): string {
  if (report) return report.slice(0, 4_000);
  const about = service ? `${service.name} (${service.type})` : "A service";
  return `${about} fails its ${check} check: ${code.replaceAll("_", " ")}`;
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
