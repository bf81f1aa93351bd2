import type { Problem } from "../contract/mod.ts";
import type { ApprovalGrounds } from "../contract/records/mod.ts";
import type { Db } from "../store/mod.ts";
import type { ApprovalRecord, ApproverSignature, VoteMove } from "../store/approvals/mod.ts";

/** A vote about a subject. */
export interface SubjectVote {
  readonly approvalId: string;
  readonly move: VoteMove;
  /** null: the voter has not signed. */
  readonly signature: ApproverSignature | null;
  /** The passkey by which they approve; null: by none. */
  readonly passkey: { readonly credentialId: string; readonly origin: string } | null;
}

/** The call that made a subject. */
export interface SubjectCall {
  /** Name of the operation. */
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Those of its arguments that no offer changes. */
  readonly fixed: Readonly<Record<string, unknown>>;
}

/** Other arguments that somebody offers instead of what an approval asks for, about which governance has people asked. */
interface SubjectOffer {
  /** Input of the operation that made the subject. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The approval that is denied. */
  readonly insteadOf: string;
  /** `GOV-` and 12 hex characters. */
  readonly decisionId: string;
  /** Number of others who must approve. */
  readonly needed: number;
  readonly grounds: ApprovalGrounds;
  /** Principal, and public id of their key. */
  readonly askedBy: string;
  readonly askedByKey: string | null;
}

/**
 * A kind of thing that approvals are about, such as a command on a device. Its folder of operations registers it.
 *
 * @typeParam Parts that its functions work with, such as `Platform`
 */
export interface ApprovalSubject<Parts> {
  /** Form of its ids. */
  readonly ids: RegExp;
  /** Returns how it has ended, after which a vote would be in vain; undefined: it has not. */
  end?(db: Db, id: string): Promise<string | undefined>;
  /** Returns why a vote does not count. Where there is no such function, no vote takes a signature. */
  refusal?(db: Db, id: string, vote: SubjectVote): Promise<Problem | undefined>;
  /** Returns why approving it now would be in vain, although it has not ended. That can change until it is done. */
  obstacle?(parts: Parts, id: string): Promise<string | undefined>;
  /** Returns the call that made it, so that whoever denies it can offer other arguments; undefined: no key's call did. */
  madeBy?(db: Db, id: string): Promise<SubjectCall | undefined>;
  /** Makes another one in the name of who offers it, about which others are asked. @returns id of the new approval */
  offer?(parts: Parts, offer: SubjectOffer): Promise<string>;
  /** Goes on with it once it is approved, where nothing waits for that. Safe to repeat. */
  resume?(parts: Parts, approval: ApprovalRecord): Promise<void>;
}
