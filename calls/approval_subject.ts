import type { Problem } from "../contract/mod.ts";
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
  /** Goes on with it once it is approved, where nothing waits for that. Safe to repeat. */
  resume?(parts: Parts, approval: ApprovalRecord): Promise<void>;
}
