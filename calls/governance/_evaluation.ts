import type { Problem } from "../../contract/mod.ts";
import type { Decision } from "../../contract/domain/mod.ts";

/** A decision about a call, before it is on record. */
export interface Evaluation {
  readonly decision: Decision;
  readonly rule: string;
  readonly reasons: readonly string[];
  /** Number of people who must approve besides the caller. */
  readonly approvers: number;
  /** True where a rule asks people, and the caller is one of them: a person who may approve, over REST. */
  readonly callerApproves: boolean;
  /** Id of the second opinion in its own log; absent: none was given, or it has none. */
  readonly opinionId?: string;
  /** Thrown where it is a denial; absent: `Denied` with the reasons. */
  readonly problem?: Problem;
}
