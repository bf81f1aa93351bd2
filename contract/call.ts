import type { Call, Caller, Door, Operation } from "./operation.ts";
import type { GovernanceDecision } from "./governance.ts";

/** A call as a door received it. */
export interface CallRequest {
  readonly door: Door;
  readonly requestId: string;
  /** The key as sent, if one was. */
  readonly credential: string | undefined;
  /** What the header `x-a2a-token` holds, over REST. */
  readonly token?: string | undefined;
  /** Client address, as seen through the trusted proxies. */
  readonly address: string;
  /** The name that the caller used: operation id or tool name. */
  readonly as: string;
  /** The fields as sent; not checked yet. */
  readonly input: unknown;
  /** Whether it is only asked what would be decided: then nothing that changes something is run. */
  readonly dryRun?: boolean;
  /** Told who calls as soon as that is known, whatever becomes of the call. */
  readonly identified?: (caller: Caller) => void;
  readonly signal: AbortSignal;
  readonly progress?: Call["progress"];
  readonly detached?: boolean;
}

/** What an operation gave, and the receipt of the call if it was sealed. */
export interface CallResult {
  readonly output: unknown;
  readonly receiptId?: string;
  /** What governance decided; absent: it had nothing to decide. */
  readonly governance?: GovernanceDecision;
  readonly limit?: Allowance;
}

/** What is left of a limit. `resetSeconds` until it starts anew. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/**
 * The one way of every call: who is it → how often → may they → is the input right → governance → do it → seal it. What
 * only reads may be counted as it is sealed.
 */
export type Invoke<Context> = (
  operation: Operation<Context>,
  request: CallRequest,
) => Promise<CallResult>;
