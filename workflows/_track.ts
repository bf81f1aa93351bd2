import {
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import {
  ATTRIBUTE,
  type Diagnosis,
  type Finding,
  type Permission,
  progressQuery,
  type RepairEffect,
  type RepairHold,
  startAttributes,
  type StepName,
  type StepRecord,
  type UndoResult,
  type VerifyResult,
} from "../contract/domain/mod.ts";

const STATE_AFTER = {
  "DETECT": "detected",
  "TICKET": "ticketed",
  "DIAGNOSE": "diagnosed",
  "REMEDIATE": "remediated",
  "VERIFY": "verified",
  "CLOSE+SEAL": "sealed",
} as const;

/** The state of a run, shown by queries, search attributes and current details. */
export interface Track {
  readonly steps: readonly StepRecord[];
  /** Name of the affected service, for sentences. */
  readonly subject: string;
  ticketId: string | null;
  /** From 1. */
  round: number;
  diagnosis?: Diagnosis;
  /** Permission for the last repair that was requested. */
  permission?: Permission;
  /** Effect of the last repair. */
  effect?: RepairEffect | undefined;
  /** True: its alerts are silenced until the repair is verified. */
  isSilenced?: boolean;
  /** Result of the last verification. */
  proof?: VerifyResult;
  /** Undefined: nothing was to be undone. */
  undone?: UndoResult | undefined;
  /** Runs one step and records when it began and ended; as failed if it throws. */
  step<T>(name: StepName, work: () => Promise<T>): Promise<T>;
  /** Corrects the record of the last step: DETECT found nothing, or another step failed. */
  amend(state: "clear" | "failed"): void;
  /** Shows the approval that the run waits for; undefined: none. */
  showApproval(approvalId: string | undefined): void;
  /** Shows what holds back the run; undefined: nothing. */
  showHold(hold: RepairHold | undefined): void;
  /** Shows the end of the run. */
  end(outcome: string, receiptId: string | null): void;
}

/** Begins to track a run about a finding. */
export function track(finding: Finding): Track {
  const { service, check, code } = finding;
  const subject = service ?? (check === "report" ? "a reported incident" : code);
  const steps: StepRecord[] = [];
  let current: StepName | null = null;
  let approval: string | undefined;
  const showDetails = (head: string | null, ...details: readonly string[]) =>
    setCurrentDetails([`**${head}**`, subject, ...details].join(" · "));

  const run: Track = {
    steps,
    subject,
    ticketId: null,
    round: 1,
    async step(name, work) {
      current = name;
      const { round } = run;
      const started_at = now();
      const record = (state: StepRecord["state"]) =>
        steps.push({ step: name, state, round, started_at, ended_at: now() });
      showDetails(name, code, `round ${round}`);
      showStep(name);
      try {
        const result = await work();
        record(STATE_AFTER[name]);
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
    showApproval(approvalId) {
      approval = approvalId;
      if (!approval) return;
      showDetails(
        current,
        `waits for people: ${approval}`,
        `npm run approvals -- show ${approval}`,
      );
    },
    showHold(hold) {
      if (!hold) return showDetails(current, "goes on");
      if (hold.kind === "guardrails") {
        return showDetails(current, "held: the guardrails can't be asked; asking again by itself");
      }
      const name = `${hold.kind} ${hold.name}`.trim();
      showDetails(
        current,
        hold.until ? `held until ${hold.until}: ${name}` : `held: ${name} is stopped`,
      );
    },
    end(outcome, receiptId) {
      current = null;
      upsertSearchAttributes([
        { key: ATTRIBUTE.outcome, value: outcome },
        ...(receiptId ? [{ key: ATTRIBUTE.receipt, value: receiptId } as const] : []),
      ]);
      showDetails(outcome, `ticket ${run.ticketId ?? "none"}`, `receipt ${receiptId ?? "none"}`);
    },
  };

  function showStep(step: StepName): void {
    if (step === "DETECT") {
      // A change costs the server a write, and a run that was started with these attributes needs none.
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

  setHandler(progressQuery, () => ({
    step: current,
    round: run.round,
    ticket_id: run.ticketId,
    approval_id: approval ?? null,
    steps,
  }));
  return run;
}

function now(): string {
  return new Date().toISOString();
}
