import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";
import type {
  ActiveStop,
  ApprovalResult,
  Finding,
  LoopResult,
  Permission,
  RunId,
  UndoResult,
} from "../domain/mod.ts";
import type { Activities, RepairOrder, RepairRequest } from "../activities/mod.ts";
import { approval } from "./approval.ts";
import { PATIENT, perform, QUICK, REPAIR, SEALING } from "./_options.ts";
import { type Track, track } from "./_track.ts";

const MAX_ROUNDS = 3;
/** How long a run waits for a switch to let it go on, until it is left to people: milliseconds. */
const HELD_FOR_MS = 60 * 60_000;
/** What it waits between two looks: milliseconds. */
const LOOK_AGAIN_MS = { first: 1_000, most: 60_000 };

/**
 * One incident, from finding to sealed receipt: six activities where the first repair helps. Its id is
 * `loop-<fingerprint>`: a second finding of the same fault joins it.
 *
 * A switch that stops it holds each repair and each undoing, for an hour; whatever only looks goes on.
 *
 * What has a ticket ends sealed, whatever happens: a step that can't do its work, or somebody who cancels the run,
 * leaves the ticket to people and says so in the receipt.
 */
export async function itsmLoop(finding: Finding): Promise<LoopResult> {
  const run = track(finding);

  const seen = await run.step(
    "DETECT",
    () => perform(QUICK, `Probes ${run.about} again`).detect(finding),
  );
  if (!seen.present) return await endClear(run, finding);

  run.ticketId = await run.step("TICKET", () =>
    perform(QUICK, `Opens the ticket of ${run.about}`)
      .openTicket({ finding, code: seen.code, run: runId() }));
  try {
    const reason = await heal(run, finding, seen.code);
    return await end(run, finding, reason);
  } catch (error) {
    const reason = reasonOf(error);
    const result = await CancellationScope.nonCancellable(() => end(run, finding, reason));
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
      () => perform(QUICK, `Judges what is wrong with ${run.about}`).diagnose(step),
    );
    run.diagnosis = diagnosis;
    const { action } = diagnosis;
    if (!action) return "no_runbook";

    const obstacle = await repair(run, { ...step, diagnosis, action });
    if (obstacle) return obstacle;

    run.proof = await run.step(
      "VERIFY",
      () => perform(PATIENT, `Waits for ${run.about} to be healthy`).verify(step),
    );
    if (run.proof.healthy) return undefined;
    run.amend("failed");
    code = run.proof.code;
    if (run.effect?.undoable) {
      const { state, held } = await undo(run, { ...step, action });
      if (state === "unknown") return "unknown_effect";
      if (held) return "stopped";
    }
  }
  run.round = MAX_ROUNDS;
  return "not_healed";
}

/** Repairs, where that is permitted. @returns undefined where the world may be better now, else why it is left to people */
async function repair(run: Track, request: RepairRequest): Promise<string | undefined> {
  run.effect = undefined;
  run.undone = undefined;
  try {
    const { obstacle, done } = await run.step("REMEDIATE", () => repairPermitted(run, request));
    if (!done) run.amend("failed");
    return obstacle;
  } catch (error) {
    const name = reasonOf(error);
    if (name === "Conflict" || !isOf("remediate", error)) throw error; // ended while nothing was done
    const id = request.action.id;
    run.effect = { id, state: "unknown", code: name, steps: [], undoable: false };
    if (isCancellation(error)) throw error;
    return "unknown_effect";
  }
}

/** Undoes a repair that did not help. @returns what became of that; where it failed, nobody can tell */
async function undo(run: Track, order: RepairOrder): Promise<UndoResult> {
  try {
    return await letGo(run, order.finding, async () => {
      return run.undone = await perform(
        REPAIR,
        `Undoes ${order.action.runbook}, the last step first`,
      ).undo(order);
    });
  } catch (error) {
    if (isOf("undo", error)) run.undone = { state: "unknown", code: reasonOf(error), steps: [] };
    if (isCancellation(error)) throw error;
    return run.undone!;
  }
}

/** Whether an activity was begun and has failed, or was cancelled: not so what a cancelled run does not begin any more. */
const isOf = (activity: keyof Activities, error: unknown) =>
  error instanceof ActivityFailure && error.activityType === activity;

/** Does what a switch may hold, again as soon as that lets it, for as long as may be waited. */
async function letGo<T extends { readonly held?: ActiveStop }>(
  run: Track,
  finding: Finding,
  work: () => Promise<T>,
): Promise<T> {
  const until = Date.now() + HELD_FOR_MS;
  let pause = LOOK_AGAIN_MS.first;
  let result = await work();
  while (result.held) {
    run.hold(result.held);
    let held: ActiveStop | null = result.held;
    while (held && Date.now() < until) {
      await sleep(pause);
      pause = Math.min(2 * pause, LOOK_AGAIN_MS.most);
      held = await perform(QUICK, "Looks whether it is still stopped").getRepairStop(finding);
    }
    run.hold(undefined);
    if (held) return result;
    result = await work();
  }
  return result;
}

/** What came of a repair: why it is left to people, if it is; else whether it is done, or needs to be no more. */
interface Outcome {
  readonly obstacle?: string;
  readonly done: boolean;
}

async function repairPermitted(run: Track, request: RepairRequest): Promise<Outcome> {
  const { finding, action } = request;
  const { runbook, service } = action;
  const approved = finding.resumes?.action_sha256 === action.sha256
    ? finding.resumes.approval_id
    : undefined;
  const isHealed = async () =>
    !(await perform(QUICK, `Looks at ${run.about} again, as it had to wait`).detect(finding))
      .present;
  let held: ActiveStop | undefined;
  let healed = false;
  const remediate = (approval_id: string | undefined) =>
    letGo(run, finding, async () => {
      if (held && run.effect?.state === "not_done" && await isHealed()) {
        healed = true;
        run.effect = undefined;
        return { permission: run.permission!, effect: null };
      }
      const repaired = await perform(
        REPAIR,
        `${runbook} for ${service}, if it may, each step at most once`,
      ).remediate({ ...request, ...(approval_id ? { approval_id } : {}) });
      run.permission = repaired.permission;
      run.effect = repaired.effect ?? undefined;
      held = repaired.held;
      return repaired;
    });
  let { permission } = await remediate(approved);
  if (permission.decision === "needs_approval" && !permission.granted) {
    const { approval_id, status } = await askPeople(run, request, permission);
    if (status !== "approved") return { obstacle: `approval_${status}`, done: false };
    if (await isHealed()) return { done: true }; // nothing is left to do, which the next step proves
    ({ permission } = await remediate(approval_id));
  }
  if (healed) return { done: true };
  if (!permission.granted) return { obstacle: OBSTACLES[permission.decision], done: false };
  if (run.effect?.state === "unknown") return { obstacle: "unknown_effect", done: false };
  if (held) return { obstacle: "stopped", done: false };
  return { done: run.effect?.state === "done" };
}

const OBSTACLES = {
  allow: "not_permitted",
  deny: "refused_by_guardrails",
  needs_approval: "approval_of_another_action",
  away: "guardrails_away",
} as const;

/** Waits for people, for as long as they may take. The question outlives this run, which may be ended from outside. */
async function askPeople(
  run: Track,
  { finding, action, ticket_id, run: asking }: RepairRequest,
  { requested_by }: Permission,
): Promise<{ approval_id: string; status: ApprovalResult["status"] }> {
  const approval_id = `APR-${action.id.slice(0, 12)}`;
  const { id: _, sha256: action_sha256, ...shown } = action;
  run.wait(approval_id);
  const answer = await executeChild(approval, {
    workflowId: `approval-${approval_id}`,
    args: [{
      approval_id,
      subject: ticket_id,
      action_sha256,
      requested_by: requested_by ?? "itsm-loop",
      ticket_id,
      action: shown,
      asking_run: { ...asking, finding },
    }],
    parentClosePolicy: ParentClosePolicy.ABANDON,
    cancellationType: ChildWorkflowCancellationType.ABANDON,
    staticSummary: `${action.runbook} for ${action.service}?`,
  });
  run.wait(undefined);
  return { approval_id, status: answer.status };
}

/** Closes or escalates the ticket, and seals. @param reason why it is left to people; undefined: it is healed */
async function end(
  run: Track,
  finding: Finding,
  reason: string | undefined,
): Promise<LoopResult> {
  const outcome = reason === undefined ? "sealed" as const : "escalated" as const;
  const { diagnosis, permission, effect, proof, undone, round: rounds } = run;
  const summary = {
    ...{ outcome, reason, diagnosis, permission, effect, proof, undone, rounds },
  };
  const ticket_id = run.ticketId!;
  const receipt_id = await run.step(
    "CLOSE+SEAL",
    () =>
      perform(SEALING, `${outcome === "sealed" ? "Closes" : "Escalates"} ${ticket_id} and seals it`)
        .closeAndSeal({ ticket_id, finding, run: runId(), summary }),
  );
  run.end(outcome, receipt_id);
  return { outcome, steps: run.steps, ticket_id, receipt_id };
}

/** Nothing is there any more. Sealed where somebody asked for the run; a schedule's clear run is no act. */
async function endClear(run: Track, finding: Finding): Promise<LoopResult> {
  run.amend("clear");
  const receipt_id = finding.requested_by || finding.resumes
    ? await perform(SEALING, "Seals that nothing was found").sealClear({ finding, run: runId() })
    : null;
  run.end("clear", receipt_id);
  return { outcome: "clear", steps: run.steps, ticket_id: null, receipt_id };
}

/** Name of what went wrong, as a code for the receipt. */
function reasonOf(error: unknown): string {
  if (isCancellation(error)) return "cancelled";
  if (error instanceof ChildWorkflowFailure) return "approval_ended";
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type) return cause.type;
  return cause instanceof Error ? cause.name : "Error";
}

/** Names this run. */
export function runId(): RunId {
  const { workflowId, runId } = workflowInfo();
  return { workflow_id: workflowId, run_id: runId };
}
