/** Calls with an idempotency key: the first runs, and each repetition gets its answer. */
import { createHash } from "node:crypto";
import { asProblem, isDatabaseAway, isGoverned, Problem, type Recovery } from "../contract/mod.ts";
import { type Db, type Holder, isHolderGone } from "../store/mod.ts";
import {
  beginIdempotentCall,
  type CallClaim,
  claimCall,
  endIdempotentCall,
  failIdempotentCall,
  getIdempotentCall,
  type KeptCall,
  takeOverCall,
} from "../store/calls/mod.ts";
import { repeatHeldCall } from "./approvals/mod.ts";
import { errorName, keptEnd, keptOutcome } from "./_kept_end.ts";
import { countKeptCall } from "./limit.ts";
import type { Platform } from "./platform.ts";
import { recoverCall } from "./recover/mod.ts";
import { retryInBackground } from "./retry.ts";
import type { CallOutcome, CheckedCall } from "./run.ts";

/** The right to run a call. */
export interface Claim {
  /** Is called when nothing is left but to run the operation. @throws {Problem} it must not be run */
  begin(decisionId: string | undefined): Promise<void>;
  /** Keeps the end of a call in the transaction of its change. @throws {Problem} nothing must be changed */
  keep(trx: Db, outcome: CallOutcome): Promise<void>;
}

/** Decides about a call and runs it. @returns errors, too */
export type Perform = (claim: Claim) => Promise<CallOutcome>;

/** The right to run a call without an idempotency key. */
const ANY: Claim = { begin: () => Promise.resolve(), keep: () => Promise.resolve() };

/** Attempts to claim a call that others repeat at the same time. */
const MAX_CLAIMS = 5;

/**
 * Returns the function that performs a call, once for each idempotency key of a caller and an operation. A call without
 * such a key, a read or a dry run is performed as it is.
 *
 * @param holder lock by which this process shows that it lives
 */
export function openIdempotency(
  holder: Holder,
): (parts: Platform, call: CheckedCall, perform: Perform) => Promise<CallOutcome> {
  return async (parts, call, perform) => {
    const { operation, request, caller } = call;
    const { idempotencyKey } = request;
    if (idempotencyKey === undefined || request.dryRun || !isGoverned(operation)) {
      return await perform(ANY);
    }
    const { db, tenant } = parts.store;
    const id = sha256([
      caller.keyId ?? `address:${caller.address}`,
      operation.name,
      idempotencyKey,
    ]);
    const inputSha256 = sha256(call.input);
    const lock = await holder.number();
    for (let claims = 0; claims < MAX_CLAIMS; claims++) {
      const first = { operation: operation.name, inputSha256, holder: lock };
      const claim = await claimCall(db, { tenant, id }, first);
      if (claim) return await performCounted(parts, db, claim, call, perform);
      const kept = await getIdempotentCall(db, { tenant, id });
      if (!kept) continue; // it was forgotten meanwhile
      if (kept.inputSha256 !== inputSha256) throw reused(operation.name);
      const { attempt } = kept;
      const earlier = await earlierOutcome(parts, db, { tenant, id, attempt }, kept, call);
      if (earlier === "changed") continue;
      if (earlier) return earlier;
      const taken = await takeOverCall(db, { tenant, id, attempt }, lock);
      if (taken) return await performClaimed(parts, db, taken, call, perform);
    }
    throw stillRunning("The call with this idempotency key is being repeated by others");
  };
}

/** Performs a call that is claimed for the first time. */
async function performCounted(
  platform: Platform,
  db: Db,
  claim: CallClaim,
  call: CheckedCall,
  perform: Perform,
): Promise<CallOutcome> {
  try {
    await countKeptCall(platform, call.caller);
  } catch (error) {
    await failIdempotentCall(db, claim);
    throw error;
  }
  return await performClaimed(platform, db, claim, call, perform);
}

/** Performs a call, and keeps its end. Where the database is away at the end, the end is kept as soon as possible. */
async function performClaimed(
  { log }: Platform,
  db: Db,
  claim: CallClaim,
  { operation }: CheckedCall,
  perform: Perform,
): Promise<CallOutcome> {
  let hasBegun = false;
  const takenOver = () =>
    stillRunning("The call with this idempotency key was taken over by another process");
  const outcome = await perform({
    async begin(decisionId) {
      hasBegun = await beginIdempotentCall(db, claim, decisionId);
      if (!hasBegun) throw takenOver();
    },
    async keep(trx, ended) {
      if (!await endIdempotentCall(trx, claim, keptEnd(operation, ended, true)!)) throw takenOver();
    },
  });
  if (outcome.committed) return outcome; // its end is kept
  const end = keptEnd(operation, outcome, hasBegun);
  const keep = () => end ? endIdempotentCall(db, claim, end) : failIdempotentCall(db, claim);
  await keep().catch((error) => {
    if (!isDatabaseAway(error)) log.error({ operation: operation.name, err: error }, "not kept");
    void retryInBackground(keep, isDatabaseAway);
  });
  return outcome;
}

/**
 * Returns the outcome of a call that is kept.
 *
 * @returns undefined where nobody runs it, and it can be run again; `changed`: another process has moved it meanwhile
 */
async function earlierOutcome(
  platform: Platform,
  db: Db,
  claim: CallClaim,
  kept: KeptCall,
  call: CheckedCall,
): Promise<CallOutcome | "changed" | undefined> {
  const { state, approvalId, decisionId, changedAt, holder } = kept;
  const repeats = { decisionId, endedAt: changedAt };
  if (state === "held") {
    const decision = await repeatHeldCall(platform, call, approvalId!);
    return { decision, output: decision.answer?.output, error: decision.problem };
  }
  if (state === "ended") return { ...keptOutcome(kept), repeats };
  if (state !== "failed") {
    if (holder !== null && !await isHolderGone(db, holder)) {
      throw stillRunning("The call with this idempotency key is still running");
    }
    const now = await getIdempotentCall(db, claim);
    if (now?.state !== state || now.attempt !== claim.attempt) return "changed";
  }
  if (state === "claimed") return undefined; // it did not begin, and can't any more once it is taken over
  const outcome = await recoverOutcome(platform, kept, call);
  if (!outcome) return undefined;
  const end = keptEnd(call.operation, outcome, true);
  await (end ? endIdempotentCall(db, claim, end) : failIdempotentCall(db, claim));
  return { ...outcome, repeats };
}

/** Finds out what an earlier call did. @returns undefined where it can be run again @throws {Problem} nobody knows */
async function recoverOutcome(
  platform: Platform,
  { state, changedAt, decisionId }: KeptCall,
  { operation, request, caller, input }: CheckedCall,
): Promise<CallOutcome | undefined> {
  if (operation.durability?.commits) return undefined; // else its end would be kept
  const recovery = decisionId === null
    ? { state: "unknown" } as Recovery // things that calls without a key make are named after no decision
    : await recoverCall(platform, {
      operation: operation.name,
      decisionId,
      since: changedAt,
      awaited: request.door !== "a2a",
      keyId: caller.keyId!,
      input,
    }).catch((error) => {
      const { message } = asProblem(error);
      throw stillRunning(
        `It can't be told yet how the call with this idempotency key ended: ${message}`,
      );
    });
  if (recovery.state === "done") return { output: recovery.output };
  // An error of the service was reported to the caller, who now tries again; what a dead process did was not.
  if (recovery.state === "not_done" || state === "failed") return undefined;
  if (recovery.state === "failed") {
    return { error: new Problem(errorName(recovery.error.name), recovery.error.message) };
  }
  const { look = "at what it acts on" } = recovery;
  throw new Problem(
    "OutcomeUnknown",
    "The call with this idempotency key was begun, and its process ended before it was known what became of it. It may " +
      `have been done: look ${look}`,
  );
}

/** SHA-256 of a value as JSON whose fields are sorted, hex. */
function sha256(value: unknown): string {
  const sorted = (_: string, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1))
      : inner;
  return createHash("sha256").update(JSON.stringify(value, sorted)).digest("hex");
}

function reused(operation: string): Problem {
  return new Problem(
    "IdempotencyKeyReused",
    `This idempotency key belongs to another call of ${operation}, with other arguments`,
  );
}

function stillRunning(message: string): Problem {
  return new Problem("StillRunning", message, { headers: { "retry-after": "2" } });
}
