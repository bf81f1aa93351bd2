import type { SignedRequest } from "./signed_request.ts";
import type { RequiredApproval } from "./required_approval.ts";

/** The tools that a key reaches on the tool server: `full` all of them, `audit` those that name it. */
export type Scope = "full" | "audit";

/** Tiers of keys, lowest first. */
export const TIERS = ["free", "partner", "enterprise", "admin"] as const;

/** Tier of a key; a caller without one is `free`. */
export type Tier = typeof TIERS[number];

/** The authenticated caller. */
export interface Caller {
  /** Public id of the key, never the key; null for the anonymous caller. */
  readonly keyId: string | null;
  readonly tenant: string;
  readonly tier: Tier;
  readonly scope: Scope;
  /** The person or agent who holds the key. */
  readonly principal: string;
  readonly mayApprove: boolean;
  /** Client address, as seen through the trusted proxies. */
  readonly address: string;
  /** Present where a person has signed in with a browser. A call is a decision of theirs where their passkey signs it. */
  readonly session?: CallerSession;
}

/** A session of the holder of a key. */
interface CallerSession {
  readonly id: string;
  readonly expiresAt: Date;
  /** True: the key may approve, and so may its holder, with a passkey. */
  readonly mayApprove: boolean;
  /** True: its person may enrol a passkey without another one, as the operator has said. */
  readonly recovers: boolean;
}

/** The reason of an aborted call whose connection was lost. The caller may still want the outcome. */
export class CallerGone extends Error {
  override readonly name = "CallerGone";
}

/** The interface through which a call came. */
export type Door = "rest" | "mcp" | "a2a";

/** The part of `run`'s context that belongs to one call; the platform adds its own parts. */
export interface CallContext {
  readonly caller: Caller;
  readonly door: Door;
  readonly requestId: string;
  /** Aborted when the caller cancels or disconnects; a lost connection has {@linkcode CallerGone} as its reason. */
  readonly signal: AbortSignal;
  /**
   * Reports progress to the caller. Does nothing where the interface has no progress.
   *
   * @param done steps finished, ≥ 0, growing
   * @param total steps in all
   * @param message the current step, for a person
   */
  progress(done: number, total: number, message: string): void;
  /** True where the caller follows the run by itself: a long-running operation then returns once it has started it. */
  readonly detached?: boolean;
  /** True where the call is about the things of all tenants: a key of tier admin calls an operation that spans them. */
  readonly spansTenants?: boolean;
  /** Set where people must approve what the call orders, and the operation asks them. */
  readonly requiredApproval?: RequiredApproval | undefined;
  /** True where the call counts as its caller's own decision, as one of those that its rule asks for. */
  readonly callerApproves?: boolean | undefined;
  /** `GOV-` and 12 hex characters: the governance decision that allowed the call. Ids of what it creates derive from it. */
  readonly decisionId?: string | undefined;
  /** The secret of a sign-in that the caller's browser has begun, where the operation ends one. */
  readonly signIn?: string | undefined;
  /** The request as a device has signed it, where one calls. */
  readonly signed?: SignedRequest | undefined;
}
