/** An approval that a rule wants of what a call orders. */
export interface RequiredApproval {
  /** Number of people besides the caller. */
  readonly needed: number;
  readonly rule: string;
  /** True: they approve by passkey alone. */
  readonly passkey: boolean;
  readonly reasons: readonly string[];
  /** Receipt of the decision. */
  readonly receiptId: string;
}
