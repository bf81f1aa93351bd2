import {
  type Caller,
  type Door,
  type GovernanceDecision,
  InvalidInput,
  outputValue,
  Problem,
  redactSecrets,
} from "../contract/mod.ts";
import { ReceiptConflict, requestSeal, type Sealer, type SealRequest } from "../ledger/mod.ts";
import type { Db } from "../store/mod.ts";
import { actorOf, callerEvidence } from "./actor.ts";
import type { Platform } from "./platform.ts";
import { retryInBackground } from "./retry.ts";
import type { CallOutcome, CheckedCall } from "./run.ts";

/** A call that has ended: its operation, and how it ended. */
export interface EndedCall extends Omit<CheckedCall, "input">, CallOutcome {
  /** The checked input; undefined where it was refused. */
  readonly input: CheckedCall["input"] | undefined;
  /** Milliseconds from the request to its end. */
  readonly durationMs: number;
}

/** A receipt of a call, with its private evidence. */
export type CallReceipt = SealRequest & { readonly evidence: Readonly<Record<string, unknown>> };

/**
 * Seals how a call ended: on the tool server every call, over REST those that change something, unless the operation
 * seals its own, or a device calls. Arguments and result are private evidence; only commitments to them go public.
 *
 * Where the call's decision is on record and the database is away at the end, the caller gets the answer all the same,
 * since whoever hears of an error would call again; the receipt is then requested as soon as possible.
 *
 * @returns the receipt's id; undefined where this call is not sealed
 */
export async function recordCall(
  { sealer }: Pick<Platform, "sealer">,
  call: EndedCall,
): Promise<string | undefined> {
  if (!isSealed(call)) return undefined;
  const receipt = callReceipt(call);
  const seal = () => sealCall(sealer, receipt, call.operation.durability?.commits);
  try {
    return await seal();
  } catch (error) {
    if (receipt.id === undefined || !isUnavailable(error)) throw error;
    void retryInBackground(seal, isUnavailable); // else a worker seals what can be found out
    return receipt.id;
  }
}

/**
 * Requests the receipt of a successful call in the transaction of its change.
 *
 * @returns its id; undefined where this call is not sealed
 * @throws {Problem} `Unavailable`: the call was taken for lost, and its receipt says that it did nothing
 */
export async function sealWithin(trx: Db, call: EndedCall): Promise<string | undefined> {
  return isSealed(call) ? await requestWithin(trx, callReceipt(call)) : undefined;
}

/** Requests a receipt in a transaction, whatever its texts hold. @throws as {@linkcode sealWithin} */
export async function requestWithin(trx: Db, receipt: CallReceipt): Promise<string> {
  try {
    return (await requestSeal(trx, receipt)).id;
  } catch (error) {
    if (error instanceof InvalidInput) {
      return await requestWithin(trx, { ...receipt, evidence: asJsonTexts(receipt.evidence) });
    }
    if (!(error instanceof ReceiptConflict)) throw error;
    throw new Problem("Unavailable", "The call was taken for lost meanwhile; nothing was changed");
  }
}

function isSealed({ operation, request, caller, error, decision, repeats }: EndedCall): boolean {
  if (caller.keyId === null || operation.access === "device") return false;
  if (request.door !== "rest") return true;
  const sealsItself = operation.durability?.sealsItself && !error && !decision?.answer && !repeats;
  return operation.effect !== "read" && !sealsItself;
}

const isUnavailable = (error: unknown) => error instanceof Problem && error.name === "Unavailable";

/**
 * Requests a call's receipt, whatever the call's texts hold. A call whose end was sealed as unknown meanwhile gets a
 * second receipt that supersedes the first.
 *
 * @param keepsFirst true where the first one stays: what has committed, or was taken for lost before it could, is known
 * @returns the receipt's id
 */
export async function sealCall(
  sealer: Sealer,
  receipt: CallReceipt,
  keepsFirst = false,
): Promise<string> {
  try {
    return (await sealer.request(receipt)).id;
  } catch (error) {
    if (error instanceof ReceiptConflict && receipt.id) {
      const { id, ...rest } = receipt;
      if (keepsFirst) return id!;
      return await sealCall(sealer, { ...rest, supersedes: id });
    }
    if (!(error instanceof InvalidInput)) throw error;
    return await sealCall(
      sealer,
      { ...receipt, evidence: asJsonTexts(receipt.evidence) },
      keepsFirst,
    );
  }
}

/** JSON texts escape what has no canonical form. */
function asJsonTexts(evidence: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(evidence).map(([name, value]) => [name, JSON.stringify(value)]),
  );
}

/** Returns the receipt of a call: who called what, the decision, how it ended, and how long it took. */
export function callReceipt(call: EndedCall): CallReceipt {
  const { operation, request, caller, output, error, decision, repeats, durationMs } = call;
  const isOwnOutput = !error && !decision?.answer && !repeats && output != null;
  return {
    ...(decision?.callReceiptId ? { id: decision.callReceiptId } : {}),
    category: request.door === "rest" ? "api_call" : "tool_call",
    actor: actorOf(operation, caller.keyId),
    subject: request.as,
    action: operation.name,
    outcome: repeats ? "repeated" : outcomeOf(error, decision),
    tenant: caller.tenant,
    details: {
      door: request.door,
      effect: operation.effect,
      duration_ms: Math.round(durationMs),
      ...(isOwnOutput ? operation.durability?.receipt?.(output) : {}),
      ...(decision ? decisionDetails(decision) : {}),
      ...(repeats?.decisionId ? { repeats: repeats.decisionId } : {}),
      ...(error ? { error: error.name } : {}),
    },
    evidence: redactSecrets({
      ...callerEvidence(operation, caller),
      arguments: argumentsOf(call),
      ...(error ? { error: error.message } : { result: outputValue(output) ?? null }),
    }),
  };
}

function argumentsOf({ operation, input, request }: EndedCall): unknown {
  const sent = input ?? request.input ?? {};
  return operation.durability?.asEvidence?.(sent as Record<string, unknown>) ?? sent;
}

function decisionDetails({ id, decision, dryRun, approvalId, grant }: GovernanceDecision) {
  return {
    decision,
    decision_id: id,
    ...(dryRun ? { dry_run: true } : {}),
    ...(approvalId ? { approval_id: approvalId } : {}),
    ...grant,
  };
}

function outcomeOf(error: Problem | undefined, decision?: GovernanceDecision): string {
  if (error?.name === "Cancelled") return "canceled";
  if (error?.name === "OutcomeUnknown") return "unknown";
  if (error) return error.rule.status < 500 ? "refused" : "failed";
  const kind = decision?.answer?.kind;
  return kind === "held" || kind === "dry_run" ? kind : "success";
}

/** An agent's action that is no call of an operation: reading a resource, sending or cancelling an A2A task. */
export interface AgentAction {
  readonly door: Exclude<Door, "rest">;
  readonly caller: Caller;
  /** The protocol's name of it: `resources/read`, `prompts/get`, `message/send`, `tasks/cancel`. */
  readonly method: string;
  /** An id or a name without private words. */
  readonly subject: string;
  readonly arguments: unknown;
  readonly result?: unknown;
  readonly error?: Problem;
  /** Milliseconds. */
  readonly durationMs: number;
}

/** Requests the receipt of such an action. @returns its id */
export async function sealAction(sealer: Sealer, action: AgentAction): Promise<string> {
  const { door, caller, method, subject, error, durationMs } = action;
  return await sealCall(sealer, {
    category: "tool_call",
    actor: `key:${caller.keyId}`,
    subject,
    action: method,
    outcome: outcomeOf(error),
    tenant: caller.tenant,
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
