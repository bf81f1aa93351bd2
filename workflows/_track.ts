import {
  defineQuery,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from "@temporalio/workflow";
import { ATTRIBUTE } from "../temporal/attributes.ts";
import type { Finding, StepName, StepRecord } from "./types.ts";

/** How far a run is: for callers who wait, and for the Web UI. */
export interface Progress {
  readonly step: StepName | null;
  readonly round: number;
  readonly ticket_id: string | null;
  readonly steps: readonly StepRecord[];
}

/** Asks a run how far it is. */
export const progressQuery = defineQuery<Progress>("progress");

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
  ticketId: string | null;
  round: number;
  /** Does one step, and keeps when it began and ended. */
  step<T>(name: StepName, work: () => Promise<T>): Promise<T>;
  /** The last step found nothing (DETECT) or did not do what it should (the others). */
  amend(state: "clear" | "failed"): void;
  /** Shows how it ended. */
  end(outcome: string, receiptId: string | null): void;
}

/** Starts to keep track of a run about a finding. */
export function track(finding: Finding): Track {
  const steps: StepRecord[] = [];
  let current: StepName | null = null;
  const run: Track = {
    steps,
    ticketId: null,
    round: 1,
    async step(name, work) {
      current = name;
      const started_at = now();
      upsertSearchAttributes([
        { key: ATTRIBUTE.step, value: name },
        ...(run.ticketId ? [{ key: ATTRIBUTE.ticket, value: run.ticketId } as const] : []),
      ]);
      setCurrentDetails(
        `**${name}** · ${finding.service ?? "reported"} · ${finding.code} · round ${run.round}`,
      );
      const result = await work();
      steps.push({
        step: name,
        state: REACHED[name],
        round: run.round,
        started_at,
        ended_at: now(),
      });
      return result;
    },
    amend(state) {
      const last = steps.pop()!;
      steps.push({ ...last, state });
    },
    end(outcome, receiptId) {
      current = null;
      upsertSearchAttributes([
        { key: ATTRIBUTE.outcome, value: outcome },
        ...(run.ticketId ? [{ key: ATTRIBUTE.ticket, value: run.ticketId } as const] : []),
        ...(receiptId ? [{ key: ATTRIBUTE.receipt, value: receiptId } as const] : []),
      ]);
      setCurrentDetails(
        `**${outcome}** · ${finding.service ?? "reported"} · ticket ${
          run.ticketId ?? "none"
        } · receipt ${receiptId ?? "none"}`,
      );
    },
  };
  setHandler(
    progressQuery,
    () => ({ step: current, round: run.round, ticket_id: run.ticketId, steps }),
  );
  return run;
}

const now = () => new Date().toISOString();
