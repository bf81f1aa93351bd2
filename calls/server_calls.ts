/** Calls of servers about which the worker decides again, before it acts for one: a row that a server wrote is no permission. */
import { parseInput, Problem } from "../contract/mod.ts";
import { ROLES } from "../store/mod.ts";
import { getDecision, governanceInForce } from "../store/calls/mod.ts";
import { findKeyById } from "../store/keys/mod.ts";
import { isKeyOfPerson } from "../store/people/mod.ts";
import { callerOf } from "./authenticate.ts";
import { authorize, refuseApprover } from "./authorize.ts";
import { evaluateAgain, openPolicyCache } from "./governance/mod.ts";
import type { Platform } from "./platform.ts";
import type { CheckedCall } from "./run.ts";

/** A call that a server says it has been asked for. */
export interface ServerCall {
  /** Name of the operation. */
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Public id of the key that has called; null: none has. */
  readonly keyId: string | null;
  /** Database role of the process that wrote it down. */
  readonly storedBy: string;
  /** Id of the governance decision about it, which tells whether its caller's passkey has signed it. */
  readonly decisionId: string;
}

/** The worker's own decision about a call of a server. */
export interface ServerCallDecision {
  /** Number of people who must approve, besides the caller; 0: nobody need be asked. */
  readonly approvers: number;
  /** True: the caller may approve, and calls over REST: that is a decision of their own. */
  readonly callerApproves: boolean;
  /** True: they must approve by passkey. */
  readonly passkey: boolean;
}

/** Returns true for what the worker itself wrote. Whatever it acts upon was permitted before it wrote that. */
export function isWorkersOwn({ storedBy }: { readonly storedBy: string }): boolean {
  return storedBy === ROLES.worker;
}

/**
 * Decides about a call of a server by its key, the policy, the stops and the guardrails as they are now.
 *
 * @throws {Problem} why it may not be done, whoever approves it
 */
export async function decideAgain(
  platform: Platform,
  call: ServerCall,
): Promise<ServerCallDecision> {
  const { store: { db } } = platform;
  const checked = await checkAgain(platform, call);
  const { version, stops } = await governanceInForce(db);
  const { policy } = await openPolicyCache(db)(version);
  const evaluation = await evaluateAgain(platform, checked, stops, policy.rules);
  const { decision, approvers, reasons, passkey } = evaluation;
  if (decision === "deny") throw denied(reasons.join("; "));
  const own = passkey && decision === "needs_approval" &&
    await hasSigned(platform, checked, call.decisionId);
  return {
    approvers: decision === "needs_approval" ? approvers - (own ? 1 : 0) : 0,
    callerApproves: own || !passkey && checked.caller.mayApprove && checked.request.door === "rest",
    passkey,
  };
}

/** Returns whether a caller's passkey has signed their call: a rule that takes passkeys counts nothing else. */
async function hasSigned(
  { store }: Pick<Platform, "store">,
  { caller, request }: Pick<CheckedCall, "caller" | "request">,
  decisionId: string,
): Promise<boolean> {
  if (request.door !== "rest" || !caller.mayApprove) return false;
  const decision = await getDecision(store.asTenant(caller.tenant), decisionId);
  return decision?.keyId === caller.keyId && decision.callerApproves;
}

async function checkAgain(
  { store, operations }: Platform,
  { operation: name, input, keyId, storedBy }: ServerCall,
): Promise<CheckedCall> {
  const operation = operations.get(name);
  const key = keyId === null ? undefined : await findKeyById(store.db, keyId);
  if (!operation || !key || key.expiresAt && key.expiresAt <= new Date()) {
    throw denied("no valid key has called");
  }
  if (key.tenant !== store.tenant && key.tier !== "admin") {
    throw denied("the key is another tenant's");
  }
  // People decide over REST alone, and the gateway alone serves it.
  const door = storedBy === ROLES.gateway ? "rest" : "mcp";
  const holder = callerOf(key, "");
  // A person's token is their key without their decision.
  const isToken = door === "mcp" && await isKeyOfPerson(store.db, key.id);
  const caller = isToken ? { ...holder, mayApprove: false } : holder;
  if (door === "rest") authorize(operation, { door, as: name }, caller);
  else if (caller.scope !== "full") throw denied("a key of its scope may not call it");
  else refuseApprover(caller);
  const request = {
    door,
    requestId: name,
    credential: undefined,
    address: "",
    as: name,
    input,
    signal: new AbortController().signal,
  } as const;
  return { operation, request, caller, input: parseInput(operation.input, input) };
}

const denied = (why: string) => new Problem("Denied", `The call is not done: ${why}`);
