import type { PasskeyAnswer } from "./domain/mod.ts";
import type { CallContext, Caller, Door } from "./caller.ts";
import type { GovernanceDecision } from "./governance.ts";
import type { Operation } from "./operation.ts";
import type { SignedRequest } from "./signed_request.ts";

/** A call as an interface received it. */
export interface CallRequest {
  readonly door: Door;
  readonly requestId: string;
  /** The key as sent, if one was. */
  readonly credential: string | undefined;
  /** The session's secret, where one of the gateway's own pages has sent its cookie and no key. */
  readonly session?: string | undefined;
  /** A passkey's answer about this very call, of a person who has signed in. */
  readonly passkey?: PasskeyAnswer | undefined;
  /** The secret of a sign-in that this browser has begun, from its cookie, likewise. */
  readonly signIn?: string | undefined;
  /** Value of the header `x-a2a-token`, over REST. */
  readonly token?: string | undefined;
  /** Present in calls over REST of operations that devices sign. */
  readonly signed?: SignedRequest | undefined;
  /** Client address, as seen through the trusted proxies. */
  readonly address: string;
  /** The name that the caller used: operation id or tool name. */
  readonly as: string;
  /** The fields as sent; not checked yet. */
  readonly input: unknown;
  /** True: the caller only asks what governance would decide, so nothing runs that changes something. */
  readonly dryRun?: boolean;
  /** The caller's name for this call: repeated within a day, it gives the first answer again and changes nothing more. */
  readonly idempotencyKey?: string | undefined;
  /** Called with the caller once authenticated, whatever becomes of the call. */
  readonly identified?: (caller: Caller) => void;
  readonly signal: AbortSignal;
  readonly progress?: CallContext["progress"];
  readonly detached?: boolean;
}

/** The outcome of a call. */
export interface CallResult {
  readonly output: unknown;
  /** Receipt of the call, if it was sealed. */
  readonly receiptId?: string;
  /** Absent where the operation is not governed. */
  readonly governance?: GovernanceDecision | undefined;
  readonly limit?: Allowance | undefined;
  /** Set where the output is that of an earlier call: when that ended, ISO 8601. */
  readonly earlier?: string | undefined;
}

/** The rest of a rate limit's budget. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  /** Until the budget is full again. */
  readonly resetSeconds: number;
}

/** Takes a call through its whole life: authenticate → authorize → limit → validate → govern → run → seal. */
export type Invoke<Context> = (
  operation: Operation<Context>,
  request: CallRequest,
) => Promise<CallResult>;
