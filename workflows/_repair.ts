import { CancellationScope, isCancellation } from "@temporalio/workflow";
import type { RepairOrder, RepairRequest } from "../activities/mod.ts";
import {
  PLACE_AWAY,
  type RepairEffect,
  type RepairHold,
  type RepairResult,
  type RepairSubject,
  type UndoResult,
} from "../contract/domain/mod.ts";
import { askAboutRepair } from "./_approval_of_repair.ts";
import { isFailureOf, reasonOf } from "./_failures.ts";
import { perform, QUICK, REPAIR } from "./_options.ts";
import { retryWhileHeld } from "./_holds.ts";
import { at, type PlacedFinding } from "./_place.ts";
import type { Track } from "./_track.ts";

/** Outcome of the step REMEDIATE. */
interface Outcome {
  /** Reason to leave the incident to people; absent: there is none. */
  readonly obstacle?: string;
  /** True: the repair is done, or no longer needed. */
  readonly done: boolean;
}

/** A repair whose place is known. */
export type PlacedRepair = RepairRequest & { readonly finding: PlacedFinding };

/** The sources of the repair have changed since, or another one is offered instead; nothing was done: it is made anew. */
export const OUTDATED = "outdated";

/** Obstacles by the decision about a repair that was not permitted. */
const OBSTACLES = {
  allow: "not_permitted",
  deny: "refused_by_guardrails",
  needs_approval: "approval_of_another_action",
  away: "guardrails_away", // never the last word: they are asked until they answer
  taken: "taken",
} as const;

/** Repairs, if that is permitted. @returns reason to leave the incident to people; undefined: verify the result */
export async function repair(run: Track, request: PlacedRepair): Promise<string | undefined> {
  run.effect = undefined;
  run.undone = undefined;
  try {
    const { obstacle, done } = await run.step("REMEDIATE", () => repairIfPermitted(run, request));
    if (!done) run.amend("failed");
    return obstacle;
  } catch (error) {
    const code = reasonOf(error);
    if (code === PLACE_AWAY) {
      run.effect = await readEffect(request) ?? undefined;
      return PLACE_AWAY;
    }
    if (code === "Conflict" || !isFailureOf("remediate", error)) throw error; // nothing was done
    const { id } = request.action;
    run.effect = { id, state: "unknown", code, steps: [], undoable: false };
    if (isCancellation(error)) throw error;
    return "unknown_effect";
  }
}

/** Undoes a repair that did not help. If that fails, its result is unknown. */
export async function undo(run: Track, order: PlacedRepair): Promise<UndoResult> {
  try {
    return await retryWhileHeld(run, subjectOf(order), async () => {
      const summary = `Undoes ${order.action.runbook}, last step first`;
      return run.undone = await at(
        order.finding.place,
        REPAIR,
        summary,
        (here) => here.undo(order),
      );
    });
  } catch (error) {
    if (isFailureOf("undo", error) || reasonOf(error) === PLACE_AWAY) {
      run.undone = { state: "unknown", code: reasonOf(error), steps: [] };
    }
    if (isCancellation(error)) throw error;
    return run.undone!;
  }
}

/** Lifts the silence of a repair's alerts. If nobody does, it ends by itself. */
export async function liftSilence(run: Track, order: RepairOrder): Promise<void> {
  run.isSilenced = false;
  const summary = `Lifts the silence of the alerts about ${run.subject}`;
  await CancellationScope.nonCancellable(() => perform(QUICK, summary).liftSilence(order));
}

async function repairIfPermitted(run: Track, request: PlacedRepair): Promise<Outcome> {
  const { finding, action } = request;
  const { resumes } = finding;
  const earlierApproval = resumes?.action_sha256 === action.sha256
    ? resumes.approval_id
    : undefined;
  let result = await remediate(run, request, earlierApproval);
  if (result === "healed") return { done: true };
  if (result.permission.decision === "needs_approval" && !result.permission.granted) {
    const { approvalId, status, offered } = await askAboutRepair(run, request, result.permission);
    if (status !== "approved" && status !== OUTDATED && !offered) {
      return { obstacle: `approval_${status}`, done: false };
    }
    if (await isHealed(run, request)) return { done: true }; // the next step proves it
    if (status !== "approved") return { obstacle: OUTDATED, done: false };
    result = await remediate(run, request, approvalId);
    if (result === "healed") return { done: true };
  }
  const { permission, held, outdated } = result;
  if (outdated) return { obstacle: OUTDATED, done: false };
  if (!permission.granted) return { obstacle: OBSTACLES[permission.decision], done: false };
  if (run.effect?.state === "unknown") return { obstacle: "unknown_effect", done: false };
  if (held) return { obstacle: "stopped", done: false };
  return { done: run.effect?.state === "done" };
}

/** Runs the repair, again after a hold; not if the service has healed while all of it was held back. */
async function remediate(
  run: Track,
  request: PlacedRepair,
  approvalId: string | undefined,
): Promise<RepairResult | "healed"> {
  const { runbook, service } = request.action;
  let held: RepairHold | undefined;
  let healed = false;
  const result = await retryWhileHeld(run, subjectOf(request), async () => {
    const { state = "not_done" } = run.effect ?? {};
    if (held && state === "not_done" && await isHealed(run, request)) {
      healed = true;
      run.effect = undefined;
      return { permission: run.permission!, effect: null };
    }
    const summary = `${runbook} for ${service}, if permitted, each step at most once`;
    const allowed = { ...request, ...(approvalId ? { approval_id: approvalId } : {}) };
    const repaired = await at(
      request.finding.place,
      REPAIR,
      summary,
      (here) => here.remediate(allowed),
    );
    run.permission = repaired.permission;
    run.effect = repaired.effect ?? undefined;
    run.isSilenced = repaired.silenced === true;
    held = repaired.held;
    return repaired;
  });
  return healed ? "healed" : result;
}

function subjectOf({ action, finding }: RepairOrder): RepairSubject {
  return { service: action.service, requested_by: finding.requested_by };
}

async function isHealed(run: Track, { finding }: PlacedRepair): Promise<boolean> {
  const summary = `Probes ${run.subject} again after the wait`;
  const { present } = await at(finding.place, QUICK, summary, (here) => here.detect(finding));
  return !present;
}

/** Reads what is known of a repair whose place is away. @returns null: none of its steps was begun */
async function readEffect({ action }: RepairRequest): Promise<RepairEffect | null> {
  return await CancellationScope.nonCancellable(() =>
    perform(QUICK, `Reads what was done by ${action.runbook}`).readEffect(action)
  );
}
