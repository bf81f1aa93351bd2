import type { Problem } from "../../contract/mod.ts";
import type { CallStatement, Decision, SignedStatement } from "../../contract/domain/mod.ts";
import type { ShownCall } from "../../ledger/passkeys/mod.ts";

/** A use of a standing grant, as records name it. */
interface GrantUseRef {
  /** `GRN-` and 12 hex characters. */
  readonly grant: string;
  /** From 1. */
  readonly use: number;
}

/** A decision about a call, before it is on record. */
export interface Evaluation {
  readonly decision: Decision;
  readonly rule: string;
  readonly reasons: readonly string[];
  /** Number of people who must approve besides the caller. */
  readonly approvers: number;
  /** True: people approve by a passkey, on the console; a key that may approve does not do. */
  readonly passkey: boolean;
  /**
   * True where a rule asks people, and the caller is one of them: a person who may approve, over REST. That of one who has
   * signed in counts once their passkey has signed the call.
   */
  readonly callerApproves: boolean;
  /** Statement about this call that the caller's passkey has signed, and the fields of the lines that were shown. */
  readonly signed?: {
    readonly statement: SignedStatement<CallStatement>;
    readonly shown: ShownCall;
  };
  /** True where people are asked by a rule alone: neither the guardrails nor a second opinion ask or deny. */
  readonly isGrantable: boolean;
  /** Use of the standing grant that allowed it; absent: none did. */
  readonly grant?: GrantUseRef;
  /** Action that the grant has allowed, as people were asked about it: evidence that it is an act that the grant names. */
  readonly grantedAction?: Readonly<Record<string, unknown>>;
  /** Id of the second opinion in its own log; absent: none was given, or it has none. */
  readonly opinionId?: string;
  /** Thrown where it is a denial; absent: `Denied` with the reasons. */
  readonly problem?: Problem;
}
