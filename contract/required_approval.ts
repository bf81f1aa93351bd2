/** An approval that a rule wants of what a call orders. */
export interface RequiredApproval {
  /** Number of people besides the caller. */
  readonly needed: number;
  readonly rule: string;
  readonly reasons: readonly string[];
  /** Receipt of the decision. */
  readonly receiptId: string;
}
