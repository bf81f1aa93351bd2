import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  defineSignal,
  isCancellation,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { PATIENT, perform, QUICK, REPAIR, SEALING } from "./_options.ts";
import { type Track, track } from "./_track.ts";
import type { Action, Effect, Finding, LoopResult, RunId } from "./types.ts";

/** The same fault was found again while its loop runs. */
export const foundAgain = defineSignal<[Finding]>("foundAgain");

const MAX_ROUNDS = 3;

/**
 * One incident, from finding to sealed receipt: six activities where the first repair helps. Its id is
 * `loop-<fingerprint>`: a second finding of the same fault joins it.
 *
 * What has a ticket ends sealed, whatever happens: a step that can't do its work, or somebody who cancels the run,
 * leaves the ticket to people and says so in the receipt.
 */
export async function itsmLoop(finding: Finding): Promise<LoopResult> {
  const run = track(finding);
  let sightings = 1;
  setHandler(foundAgain, () => void sightings++);

  const seen = await run.step(
    "DETECT",
    () => perform(QUICK, `Probes ${run.about} again`).detect(finding),
  );
  if (!seen.present) return await endClear(run, finding);

  run.ticketId = await run.step("TICKET", () =>
    perform(QUICK, `Opens the ticket of ${run.about}`)
      .openTicket({ finding, code: seen.code, run: runId() }));
  try {
    return await end(run, finding, sightings, await heal(run, finding, seen.code));
  } catch (error) {
    const reason = reasonOf(error);
    const result = await CancellationScope.nonCancellable(() =>
      end(run, finding, sightings, reason)
    );
    if (isCancellation(error)) throw error;
    return result;
  }
}

/** Repairs in up to three rounds. @returns undefined where it helped, else why it is left to people */
async function heal(run: Track, finding: Finding, firstCode: string): Promise<string | undefined> {
  const ticket_id = run.ticketId!;
  let code = firstCode;
  for (run.round = 1; run.round <= MAX_ROUNDS; run.round++) {
    const step = { finding, ticket_id, code, round: run.round, run: runId() };
    const diagnosis = await run.step(
      "DIAGNOSE",
      () => perform(QUICK, `Looks up the runbook of ${run.about}`).diagnose(step),
    );
    run.diagnosis = diagnosis;
    if (!diagnosis.action) return "no_runbook";

    if (diagnosis.action.exceeds?.length) return "needs_approval";

    run.effect = await repair(run, diagnosis.action);
    if (run.effect.state === "unknown") return "unknown_effect";

    const seen = await run.step(
      "VERIFY",
      () => perform(PATIENT, `Waits for ${run.about} to be healthy`).verify(step),
    );
    if (seen.healthy) return undefined;
    run.amend("failed");
    code = seen.code;
    if (!run.effect.undoable) continue;
    const undone = await perform(REPAIR, `Undoes ${diagnosis.action.runbook}, the last step first`)
      .undo(orderOf(run, diagnosis.action));
    if (undone.state === "unknown") return "unknown_effect";
  }
  run.round = MAX_ROUNDS;
  return "not_healed";
}

async function repair(run: Track, action: Action): Promise<Effect> {
  try {
    const effect = await run.step(
      "REMEDIATE",
      () =>
        perform(REPAIR, `${action.runbook} for ${action.service}, each step at most once`)
          .remediate(orderOf(run, action)),
    );
    if (effect.state !== "done") run.amend("failed");
    return effect;
  } catch (error) {
    const name = reasonOf(error);
    if (name === "Conflict") throw error; // refused before anything was done
    run.effect = { id: action.id, state: "unknown", code: name, steps: [], undoable: false };
    if (isCancellation(error)) throw error;
    return run.effect;
  }
}

const orderOf = (run: Track, action: Action) => ({
  ticket_id: run.ticketId!,
  action,
  round: run.round,
  run: runId(),
});

/** Closes or escalates the ticket, and seals. @param reason why it is left to people; undefined: it is healed */
async function end(
  run: Track,
  finding: Finding,
  sightings: number,
  reason: string | undefined,
): Promise<LoopResult> {
  const outcome = reason === undefined ? "sealed" : "escalated";
  const { diagnosis, effect, round: rounds } = run;
  const story = { outcome, reason, diagnosis, effect, sightings, rounds } as const;
  const ticket_id = run.ticketId!;
  const receipt_id = await run.step(
    "CLOSE+SEAL",
    () =>
      perform(SEALING, `${outcome === "sealed" ? "Closes" : "Escalates"} ${ticket_id} and seals it`)
        .closeAndSeal({ ticket_id, finding, run: runId(), story }),
  );
  run.end(outcome, receipt_id);
  return { outcome, steps: run.steps, ticket_id, receipt_id };
}

/** Nothing is there any more. Sealed where somebody asked for the run; a schedule's clear run is no act. */
async function endClear(run: Track, finding: Finding): Promise<LoopResult> {
  run.amend("clear");
  const receipt_id = finding.requested_by
    ? await perform(SEALING, "Seals that nothing was found").sealClear({ finding, run: runId() })
    : null;
  run.end("clear", receipt_id);
  return { outcome: "clear", steps: run.steps, ticket_id: null, receipt_id };
}

/** Name of what went wrong, as a code for the receipt. */
function reasonOf(error: unknown): string {
  if (isCancellation(error)) return "cancelled";
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type) return cause.type;
  return cause instanceof Error ? cause.name : "Error";
}

/** Names this run. */
export function runId(): RunId {
  const { workflowId, runId } = workflowInfo();
  return { workflow_id: workflowId, run_id: runId };
}
