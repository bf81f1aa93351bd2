import { setTimeout as sleep } from "node:timers/promises";
import { type Caller, type Door, InvalidInput, outputValue, Problem, type GovernanceDecision, redactSecrets } from "../contract/mod.ts";
import type { Act, Counted } from "./invoke.ts";
import type { Turn } from "./governance/mod.ts";
import { ReceiptConflict, type Requested, type Sealer, type SealRequest } from "../ledger/mod.ts";
import { type Condition, countingIn } from "../store/mod.ts";

/**
 * The gate that seals calls: on the tool server every one, over REST those that change something, unless the
 * operation seals its own act. The receipt says who, what, what governance decided, how it ended and how long it took;
 * arguments and result are kept as private evidence, and only commitments to them go public.
 *
 * Where its decision is on record and the database is away as it ends, its end is told all the same, as who hears of an
 * error would have it done again; its receipt is asked for as soon as that can be.
 */
export function recorder<C>(sealer: Sealer): (act: Act<C>) => Promise<string | undefined> {
  return async (act) => {
    if (!isSealed(act)) return undefined;
    const receipt = callReceipt(act);
    try {
      return await sealCall(sealer, receipt);
    } catch (error) {
      if (receipt.id === undefined || !isUnavailable(error)) throw error;
      void sealLater(sealer, receipt);
      return receipt.id;
    }
  };
}

/** Longest between two tries, milliseconds. */
const MOST_PAUSE_MS = 30_000;
/** About an hour. If its process ends before, a worker seals what can be found out. */
const MOST_TRIES = 120;

async function sealLater(sealer: Sealer, receipt: CallReceipt): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    await sleep(Math.min(500 * 2 ** tries, MOST_PAUSE_MS), undefined, { ref: false });
    try {
      await sealCall(sealer, receipt);
      return;
    } catch (error) {
      if (!isUnavailable(error)) return;
    }
  }
}

const isUnavailable = (error: unknown) => error instanceof Problem && error.name === "Unavailable";

/**
 * Counts a call as it seals how it ended: both, or neither where that is over its limit.
 *
 * @param turn whose counting has not begun @throws {Problem} `RateLimited`
 */
export async function recordCounted<C>(
  sealer: Sealer,
  act: Act<C>,
  turn: Turn,
): Promise<Counted> {
  const { condition, read } = countingIn(turn.use!);
  const asked = requestCall(sealer, callReceipt(act), condition);
  const { id, found } = await asked.catch(async (error) => {
    await turn.count(); // a call that can't be sealed was made all the same
    throw error;
  });
  return { receiptId: id, limit: await turn.counted(read(found)) };
}

/** Asks for a call's receipt. A call that was made is sealed, whatever was said in it. @returns its id */
export async function sealCall(sealer: Sealer, receipt: CallReceipt): Promise<string> {
  return (await requestCall(sealer, receipt)).id;
}

async function requestCall(
  sealer: Sealer,
  receipt: CallReceipt,
  when?: Condition,
): Promise<Requested> {
  const options = { when, patient: true }; // nobody waits until it is sealed
  try {
    return await sealer.request(receipt, undefined, options);
  } catch (reason) {
    if (reason instanceof ReceiptConflict && receipt.id) {
      // Its end was sealed as unknown while it still went on: this corrects that.
      const { id, ...rest } = receipt;
      return await requestCall(sealer, { ...rest, supersedes: id }, when);
    }
    if (!(reason instanceof InvalidInput)) throw reason;
    const texts = { ...receipt, evidence: asTexts(receipt.evidence) };
    return await sealer.request(texts, undefined, options);
  }
}

/** A receipt of a call, with what is kept privately. */
export type CallReceipt = SealRequest & { readonly evidence: Readonly<Record<string, unknown>> };

/** What was called and how it ended, as a receipt. */
export function callReceipt<C>(act: Act<C>): CallReceipt {
  const { operation, request, caller, input, output, error, ruling, durationMs } = act;
  const gave = error || ruling?.answer || output == null ? {} : operation.receipt?.(output);
  return {
    ...(ruling?.callReceiptId ? { id: ruling.callReceiptId } : {}),
    category: request.door === "rest" ? "api_call" : "tool_call",
    actor: `key:${caller.keyId}`,
    subject: request.as,
    action: operation.name,
    outcome: outcomeOf(error, ruling),
    details: {
      door: request.door,
      effect: operation.effect,
      duration_ms: Math.round(durationMs),
      ...gave,
      ...(ruling ? decided(ruling) : {}),
      ...(error ? { error: error.name } : {}),
    },
    evidence: redactSecrets({
      arguments: input ?? request.input ?? {},
      ...(error ? { error: error.message } : { result: outputValue(output) ?? null }),
    }),
  };
}

function decided({ id, decision, dryRun, approvalId }: GovernanceDecision): Record<string, unknown> {
  return {
    decision,
    decision_id: id,
    ...(dryRun ? { dry_run: true } : {}),
    ...(approvalId ? { approval_id: approvalId } : {}),
  };
}

function outcomeOf(error: Problem | undefined, ruling: GovernanceDecision | undefined): string {
  if (error?.name === "Cancelled") return "canceled";
  if (error?.name === "OutcomeUnknown") return "unknown";
  if (error) return error.rule.status < 500 ? "refused" : "failed";
  const { kind } = ruling?.answer ?? {};
  return kind === "held" || kind === "dry_run" ? kind : "success";
}

/** As JSON texts, which escape what has no canonical form. */
function asTexts(evidence: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(evidence).map(([name, value]) => [name, JSON.stringify(value)]),
  );
}

function isSealed<C>({ operation, request, caller, error, ruling }: Act<C>): boolean {
  if (caller.keyId === null) return false;
  if (request.door !== "rest") return true;
  return operation.effect !== "read" && !(operation.sealsItself && !error && !ruling?.answer);
}

/** What an agent did that is no call of an operation: it read a resource, took a prompt, sent or cancelled a task. */
export interface Action {
  readonly door: Exclude<Door, "rest">;
  readonly caller: Caller;
  /** The protocol's name of it: `resources/read`, `prompts/get`, `message/send`, `tasks/cancel`. */
  readonly method: string;
  /** What it was about, an id or a name without private words. */
  readonly subject: string;
  readonly arguments: unknown;
  readonly result?: unknown;
  readonly error?: Problem;
  /** Milliseconds. */
  readonly durationMs: number;
}

/** Asks for the receipt of such an action. @returns its id */
export async function sealAction(sealer: Sealer, action: Action): Promise<string> {
  const { door, caller, method, subject, error, durationMs } = action;
  return await sealCall(sealer, {
    category: "tool_call",
    actor: `key:${caller.keyId}`,
    subject,
    action: method,
    outcome: outcomeOf(error, undefined),
    details: {
      door,
      duration_ms: Math.round(durationMs),
      ...(error ? { error: error.name } : {}),
    },
    evidence: redactSecrets({
      arguments: action.arguments ?? {},
      ...(error ? { error: error.message } : { result: action.result ?? null }),
    }),
  });
}
