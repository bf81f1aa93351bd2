import { CancellationScope, isCancellation } from "@temporalio/workflow";
import {
  COMES_BACK,
  type Diagnosis,
  type Finding,
  FLAPPING,
  type LoopResult,
  type ObserverName,
  PLACE_AWAY,
  UNPROVEN,
  type VerifyResult,
} from "../contract/domain/mod.ts";
import { reasonOf } from "./_failures.ts";
import { LOOK, perform, QUICK, RECOVERY, SEAL } from "./_options.ts";
import { at, findPlace, type PlacedFinding, type PlacedOrder, unlessAway } from "./_place.ts";
import { liftSilence, OUTDATED, type PlacedRepair, repair, undo } from "./_repair.ts";
import { currentRun } from "./_run.ts";
import { type Track, track } from "./_track.ts";

/** Repairs that are tried, and all attempts, of which some may not be possible. */
const MAX_REPAIRS = 3;
const MAX_ROUNDS = 6;
/** Further rounds that begin as what a repair was made from has changed before it was done. */
const MAX_REMADE = 20;
/** A repair could not be carried out, and nothing was changed: that is no sign that it does not help. */
const NOT_DONE = "not_done";

/**
 * One incident, from finding to sealed receipt. Its id is `loop-<fingerprint>`: a second finding of the same fault joins
 * it. If the first repair helps, it runs six activities, and
 * those that look at the fault: one for what this host and the platform know, and one for each source that waits for others.
 *
 * A stop that applies holds back each repair and its undoing, for an hour, and a maintenance window until its end; steps that
 * only read go on.
 *
 * All that touches the machine of the fault is done at its place. Where that has no worker for a while, nothing is done
 * elsewhere, and the incident is left to people.
 *
 * A run with a ticket always ends sealed: if a step fails or somebody cancels the run, the ticket is escalated, and the
 * receipt says why.
 */
export async function itsmLoop(found: Finding): Promise<LoopResult> {
  const run = track(found);
  const place = found.place ?? await findPlace(found);
  const finding: PlacedFinding = { ...found, place };
  const { present, code, isAway } = await run.step("DETECT", () => detect(run, finding));
  if (!present) return await endClear(run, finding);

  const { ticket_id, looks } = await run.step(
    "TICKET",
    () =>
      perform(QUICK, `Opens the ticket of ${run.subject}`)
        .openTicket({ finding, code, run: currentRun() }),
  );
  run.ticketId = ticket_id;
  try {
    const reason = isAway ? PLACE_AWAY : await heal(run, { finding, ticket_id, code, looks });
    return await closeAndSeal(run, finding, reason);
  } catch (error) {
    const result = await CancellationScope.nonCancellable(() =>
      closeAndSeal(run, finding, reasonOf(error))
    );
    if (isCancellation(error)) throw error;
    return result;
  }
}

/** Looks again whether the fault is there. Where its place has no worker, nobody can, and it is left to people. */
async function detect(run: Track, finding: PlacedFinding) {
  try {
    const probed = await at(
      finding.place,
      QUICK,
      `Probes ${run.subject} again`,
      (here) => here.detect(finding),
    );
    return { ...probed, isAway: false };
  } catch (error) {
    unlessAway(error);
    return { present: true, code: finding.code, isAway: true };
  }
}

/** A fault with its ticket. */
interface Incident {
  readonly finding: PlacedFinding;
  readonly ticket_id: string;
  /** Code of the first probe. */
  readonly code: string;
  /** Sources that may see something of it, as they look together. */
  readonly looks: readonly (readonly ObserverName[])[];
}

/**
 * Repairs up to three times, by another action each time. One that is outdated before it is done is made anew.
 *
 * @returns reason to leave the incident to people; undefined: it is healed
 */
async function heal(
  run: Track,
  { finding, ticket_id, code: firstCode, looks }: Incident,
): Promise<string | undefined> {
  let code = firstCode;
  let repairs = 0;
  let remade = 0;
  for (run.round = 1; repairs < MAX_REPAIRS && run.round - remade <= MAX_ROUNDS; run.round++) {
    const order = { finding, ticket_id, code, round: run.round, run: currentRun() };
    const diagnosis = await run.step("DIAGNOSE", () => diagnose(run, order, looks));
    const { action } = diagnosis;
    if (action || !run.diagnosis) run.diagnosis = diagnosis; // that of the last repair
    if (!action) return reasonWithoutAction(run, code, { repairs, remade, diagnosis });

    const request = { ...order, diagnosis, action };
    const proof = await repairAndVerify(run, order, request);
    if (proof === NOT_DONE) continue;
    if (proof === OUTDATED && remade++ < MAX_REMADE) continue;
    if (typeof proof === "string") return proof;
    repairs++;
    if (proof.healthy) return undefined;
    run.amend("failed");
    if (proof.code === UNPROVEN) return "not_proven";
    code = proof.code;
    if (run.effect?.undoable) {
      const { state, code, held } = await undo(run, request);
      if (code === PLACE_AWAY) return PLACE_AWAY;
      if (state === "unknown") return "unknown_effect";
      if (held) return "stopped";
    }
  }
  run.round--;
  return repairs === 0 ? NOT_DONE : "not_healed";
}

/** Returns why a run without a further action leaves the incident to people. */
function reasonWithoutAction(
  run: Track,
  code: string,
  { repairs, remade, diagnosis }: {
    readonly repairs: number;
    readonly remade: number;
    readonly diagnosis: Diagnosis;
  },
): string {
  if (run.round - remade === 1) {
    if (diagnosis.passed_over.some((one) => one.code === COMES_BACK)) return COMES_BACK;
    return code === FLAPPING ? FLAPPING : "no_runbook";
  }
  run.round--; // nothing was tried in this one
  return repairs === 0 ? NOT_DONE : "not_healed";
}

/**
 * Lets the sources that may see something look at the fault side by side, and judges what they have seen. One that fails
 * has seen nothing.
 */
async function diagnose(
  run: Track,
  order: PlacedOrder,
  looks: Incident["looks"],
): Promise<Diagnosis> {
  await Promise.all(looks.map(async (observers) => {
    const summary = `Looks at ${run.subject}: ${observers.join(", ")}`;
    try {
      await at(order.finding.place, LOOK, summary, (here) => here.observe({ ...order, observers }));
    } catch (error) {
      if (isCancellation(error)) throw error;
    }
  }));
  const summary = `Diagnoses ${run.subject}`;
  return await at(order.finding.place, QUICK, summary, (here) => here.diagnose(order));
}

/** Repairs, and looks whether that helped. @returns the result, or the reason to leave the incident to people */
async function repairAndVerify(
  run: Track,
  order: PlacedOrder,
  request: PlacedRepair,
): Promise<VerifyResult | string> {
  try {
    const obstacle = await repair(run, request);
    if (obstacle) return obstacle;
    if (run.effect?.state === "not_done") return NOT_DONE;
    const summary = `Waits for ${run.subject} to be healthy`;
    return run.proof = await run.step(
      "VERIFY",
      () => at(order.finding.place, RECOVERY, summary, (here) => here.verify(order)),
    );
  } finally {
    if (run.isSilenced) await liftSilence(run, request);
  }
}

/** Closes the ticket, or escalates it for a reason, and seals the receipt. */
async function closeAndSeal(
  run: Track,
  finding: Finding,
  reason: string | undefined,
): Promise<LoopResult> {
  const outcome = reason === undefined ? "sealed" : "escalated";
  const { diagnosis, permission, effect, proof, undone, round: rounds } = run;
  const summary = {
    outcome,
    reason,
    diagnosis,
    permission,
    effect,
    proof,
    undone,
    rounds,
  } as const;
  const ticket_id = run.ticketId!;
  const verb = outcome === "sealed" ? "Closes" : "Escalates";
  const receipt_id = await run.step(
    "CLOSE+SEAL",
    () =>
      perform(SEAL, `${verb} ${ticket_id} and seals it`)
        .closeAndSeal({ ticket_id, finding, run: currentRun(), summary }),
  );
  run.end(outcome, receipt_id);
  return { outcome, steps: run.steps, ticket_id, receipt_id };
}

/** Ends a run whose fault is gone. It is sealed if somebody requested it; a clear run of the schedule is no act. */
async function endClear(run: Track, finding: Finding): Promise<LoopResult> {
  run.amend("clear");
  const receipt_id = finding.requested_by || finding.resumes
    ? await perform(SEAL, "Seals that nothing was found")
      .sealClear({ finding, run: currentRun() })
    : null;
  run.end("clear", receipt_id);
  const says = `${run.subject} was looked at again (${finding.check}), and no fault was found.`;
  const words = receipt_id === null ? {} : { says };
  return { outcome: "clear", steps: run.steps, ticket_id: null, receipt_id, ...words };
}
