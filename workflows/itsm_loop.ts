import { defineSignal, proxyActivities, setHandler, workflowInfo } from "@temporalio/workflow";
import type { Activities } from "../activities/mod.ts";
import { PATIENT, QUICK, REPAIR, SEALING } from "./_options.ts";
import { type Track, track } from "./_track.ts";
import type { Diagnosis, Effect, Finding, LoopResult, RunId } from "./types.ts";

const { detect, openTicket, diagnose } = proxyActivities<Activities>(QUICK);
const { remediate } = proxyActivities<Activities>(REPAIR);
const { verify } = proxyActivities<Activities>(PATIENT);
const { closeAndSeal, sealClear } = proxyActivities<Activities>(SEALING);

/** The same fault was found again while its loop runs. */
export const foundAgain = defineSignal<[Finding]>("foundAgain");

const MAX_ROUNDS = 3;

/** One incident, from finding to sealed receipt. Its id is `loop-<fingerprint>`: a second finding of the same fault joins it. */
export async function itsmLoop(finding: Finding): Promise<LoopResult> {
  const run = track(finding);
  const id = runId();
  let sightings = 1;
  setHandler(foundAgain, () => void sightings++);

  const seen = await run.step("DETECT", () => detect(finding));
  if (!seen.present) return await endClear(run, finding, id);

  run.ticketId = await run.step("TICKET", () => openTicket({ finding, code: seen.code, run: id }));
  const ticket_id = run.ticketId;
  let diagnosis: Diagnosis | undefined;
  let effect: Effect | undefined;
  for (run.round = 1; run.round <= MAX_ROUNDS; run.round++) {
    const { round } = run;
    diagnosis = await run.step("DIAGNOSE", () => diagnose({ finding, ticket_id, round }));
    const { action } = diagnosis;
    if (!action) break;
    effect = await run.step("REMEDIATE", () => remediate({ ticket_id, action, round, run: id }));
    if (effect.state !== "done") run.amend("failed");
    if (effect.state === "unknown") break;
    const { healthy } = await run.step("VERIFY", () => verify({ finding, ticket_id, round }));
    if (healthy) return await end("sealed");
    run.amend("failed");
  }
  return await end("escalated");

  async function end(outcome: "sealed" | "escalated"): Promise<LoopResult> {
    const story = {
      outcome,
      diagnosis,
      effect,
      sightings,
      rounds: Math.min(run.round, MAX_ROUNDS),
    };
    const receipt_id = await run.step(
      "CLOSE+SEAL",
      () => closeAndSeal({ ticket_id, finding, run: id, story }),
    );
    run.end(outcome, receipt_id);
    return { outcome, steps: run.steps, ticket_id, receipt_id };
  }
}

/** Nothing is there any more. Sealed where somebody asked for the run; a schedule's clear run is no act. */
async function endClear(run: Track, finding: Finding, id: RunId): Promise<LoopResult> {
  run.amend("clear");
  const receipt_id = finding.requested_by ? await sealClear({ finding, run: id }) : null;
  run.end("clear", receipt_id);
  return { outcome: "clear", steps: run.steps, ticket_id: null, receipt_id };
}

/** Names this run. */
export function runId(): RunId {
  const { workflowId, runId } = workflowInfo();
  return { workflow_id: workflowId, run_id: runId };
}
