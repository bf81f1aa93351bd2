import { createHash } from "node:crypto";
import { receiptIdOf } from "../../calls/mod.ts";
import { joinTexts, LOOP_ACTOR, say, type Text } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  addTicketEvent,
  type FaultCase,
  listFaultCases,
  lockOpenTicket,
  openTicket,
  setProblem,
} from "../../store/incidents/mod.ts";
import type { CloseOrder } from "./_close_receipt.ts";

/** Time within which incidents of one fault are told of as a trend. */
const TREND_MS = 3_600_000;
/** How much shorter or longer the later times between failures are on average, to be called so. */
const MIN_CHANGE = 1.25;

/**
 * Opens the ticket of the problem that an incident is a case of, or adds the case to the one that is open, and requests the
 * receipt. Must run in a transaction. Safe to repeat.
 *
 * @param fingerprint of the problem, the same for all incidents of one fault
 */
export async function recordProblem(
  trx: Db,
  { ticket_id, finding, run }: CloseOrder,
  fingerprint: string,
): Promise<void> {
  const cases = await listFaultCases(trx, finding.fingerprint, new Date(Date.now() - TREND_MS));
  const trend = describeTrend(finding.service ?? "It", cases);
  const known = await lockOpenTicket(trx, fingerprint);
  const id = known?.id ?? problemIdOf(run.run_id);
  if (!known) {
    await openTicket(trx, {
      id,
      title: say`Problem: ${
        finding.service ?? say`a fault`
      } fails again and again (${finding.code})`,
      description: say`${trend}\nIts incidents: ${
        cases.map((one) => one.ticket_id).join(", ")
      }. What heals it holds for a short time only; people have to find what makes it fail.`,
      severity: finding.severity ?? "high",
      phase: "ticketed",
      service: finding.service,
      fingerprint,
      workflowId: null,
      runId: null,
      requestedBy: "schedule",
    });
    await addTicketEvent(trx, id, { key: "opened", kind: "opened", phase: "ticketed" });
    await requestSeal(trx, {
      id: receiptIdOf(run, "PROBLEM"),
      category: "ticket_opened",
      actor: LOOP_ACTOR,
      subject: id,
      action: "problem.open",
      outcome: "open",
      details: { cases: cases.length, ticket_id, fingerprint: finding.fingerprint, ...run },
      evidence: { trend: String(trend) },
    });
  }
  await setProblem(trx, id, cases.map((one) => one.ticket_id));
  for (
    const [ticket, message] of [[ticket_id, trend], [id, say`${ticket_id}: ${trend}`]] as const
  ) {
    await addTicketEvent(trx, ticket, {
      key: `${run.run_id}/recurs`,
      kind: "recurs",
      data: { problem_id: id, cases: cases.length, message },
    });
  }
}

/** Says how often a fault came, how long it stayed away, and how much memory was used, as far as known. */
function describeTrend(service: string, cases: readonly FaultCase[]): Text {
  const times = cases.map(({ opened_at }) => opened_at.getTime());
  const gaps = times.slice(1).map((time, at) => (time - times[at]!) / 1_000);
  const memory = cases.flatMap(({ rss_mib }) => rss_mib === null ? [] : [rss_mib]);
  return joinTexts([
    say`${service} has failed ${cases.length} times within the hour, at ${
      cases.map(({ opened_at }) => opened_at.toISOString().slice(11, 19)).join(", ")
    } UTC.`,
    ...(gaps.length === 0
      ? []
      : [say`The times between were ${gaps.map(printSeconds).join(", ")}; ${describeGaps(gaps)}.`]),
    memory.length < 2
      ? say`How its memory went is not known.`
      : say`Its process used ${memory.join(", ")} MiB when it was looked at.`,
  ], " ");
}

function describeGaps(gaps: readonly number[]): Text {
  const half = Math.floor(gaps.length / 2);
  const mean = (some: readonly number[]) => some.reduce((sum, gap) => sum + gap, 0) / some.length;
  const change = half === 0 ? 1 : mean(gaps.slice(-half)) / mean(gaps.slice(0, half));
  if (change >= MIN_CHANGE) return say`they get longer`;
  return change <= 1 / MIN_CHANGE ? say`they get shorter` : say`they stay about the same`;
}

function printSeconds(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

function problemIdOf(runId: string): string {
  return `INC-${createHash("sha256").update(`problem\n${runId}`).digest("hex").slice(0, 12)}`;
}
