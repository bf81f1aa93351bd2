import {
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import {
  type ActiveStop,
  ATTRIBUTE,
  type Diagnosis,
  type Finding,
  type Permission,
  progressQuery,
  type RepairEffect,
  startAttributes,
  type StepName,
  type StepRecord,
  type UndoResult,
  type VerifyResult,
} from "../domain/mod.ts";

const REACHED = {
  "DETECT": "detected",
  "TICKET": "ticketed",
  "DIAGNOSE": "diagnosed",
  "REMEDIATE": "remediated",
  "VERIFY": "verified",
  "CLOSE+SEAL": "sealed",
} as const;

/** What a run keeps of itself. */
export interface Track {
  readonly steps: readonly StepRecord[];
  /** Names in sentences what the run is about. */
  readonly about: string;
  ticketId: string | null;
  /** From 1. */
  round: number;
  diagnosis?: Diagnosis;
  /** Of the last repair that was asked for. */
  permission?: Permission;
  /** Of the last repair. */
  effect?: RepairEffect | undefined;
  /** What was seen after it. */
  proof?: VerifyResult;
  /** What became of undoing it, where that was begun. */
  undone?: UndoResult | undefined;
  /** Approval that is waited for. */
  readonly waiting: string | undefined;
  /** Switch that it waits for. */
  readonly held: ActiveStop | undefined;
  /** Does one step, and keeps when it began and ended; as failed where it throws. */
  step<T>(name: StepName, work: () => Promise<T>): Promise<T>;
  /** The last step found nothing (DETECT) or did not do what it should (the others). */
  amend(state: "clear" | "failed"): void;
  /** Shows that people are waited for, or no more. */
  wait(approvalId: string | undefined): void;
  /** Shows that a switch stops it, or no more. */
  hold(by: ActiveStop | undefined): void;
  /** Shows how it ended. */
  end(outcome: string, receiptId: string | null): void;
}

/** Starts to keep track of a run about a finding. */
export function track(finding: Finding): Track {
  const { service, check, code } = finding;
  const about = service ?? (check === "report" ? "a reported incident" : code);
  const steps: StepRecord[] = [];
  let current: StepName | null = null;
  let waiting: string | undefined;
  let held: ActiveStop | undefined;
  const run: Track = {
    steps,
    about,
    ticketId: null,
    round: 1,
    async step(name, work) {
      current = name;
      const { round } = run;
      const started_at = now();
      const record = (state: StepRecord["state"]) =>
        steps.push({ step: name, state, round, started_at, ended_at: now() });
      show(name, `**${name}** · ${about} · ${finding.code} · round ${round}`);
      try {
        const result = await work();
        record(REACHED[name]);
        return result;
      } catch (error) {
        record("failed");
        throw error;
      }
    },
    amend(state) {
      const last = steps.pop()!;
      steps.push({ ...last, state });
    },
    get waiting() {
      return waiting;
    },
    wait(approvalId) {
      waiting = approvalId;
      if (waiting) setCurrentDetails(`**${current}** · ${about} · waits for people: ${waiting}`);
    },
    get held() {
      return held;
    },
    hold(by) {
      held = by;
      const what = by && `${by.kind} ${by.name}`.trim();
      setCurrentDetails(
        `**${current}** · ${about} · ${what ? `held: ${what} is stopped` : "goes on"}`,
      );
    },
    end(outcome, receiptId) {
      current = null;
      upsertSearchAttributes([
        { key: ATTRIBUTE.outcome, value: outcome },
        ...(receiptId ? [{ key: ATTRIBUTE.receipt, value: receiptId } as const] : []),
      ]);
      const ticket = run.ticketId ?? "none";
      setCurrentDetails(
        `**${outcome}** · ${about} · ticket ${ticket} · receipt ${receiptId ?? "none"}`,
      );
    },
  };

  function show(step: StepName, details: string): void {
    setCurrentDetails(details);
    if (step === "DETECT") {
      // Each change of them costs the server a write, and a run that was started with them needs none.
      const { typedSearchAttributes: known } = workflowInfo();
      if (known.get(ATTRIBUTE.step) !== step) upsertSearchAttributes(startAttributes(finding));
      return;
    }
    upsertSearchAttributes([
      { key: ATTRIBUTE.step, value: step },
      ...(step === "DIAGNOSE" && run.ticketId
        ? [{ key: ATTRIBUTE.ticket, value: run.ticketId } as const]
        : []),
    ]);
  }

  setHandler(
    progressQuery,
    () => ({
      step: current,
      round: run.round,
      ticket_id: run.ticketId,
      approval_id: waiting ?? null,
      steps,
    }),
  );
  return run;
}

const now = () => new Date().toISOString();
