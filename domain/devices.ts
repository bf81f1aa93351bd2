/**
 * Reasons for which a device does not run a command, in the order of its checks. The agent has the same list
 * (`agent/sealoop_agent.py`); a test holds them equal.
 */
export const REFUSAL_CODES = [
  "bad_shape",
  "checkpoint_signature",
  "checkpoint_quorum",
  "checkpoint_older",
  "checkpoint_inconsistent",
  "record_invalid",
  "succession_invalid",
  "not_included",
  "commitment_mismatch",
  "other_device",
  "sequence_used",
  "expired",
  "wrong_receipt",
  "approval_missing",
  "out_of_bounds",
  "journal_rolled_back",
] as const;

/** A reason for which a device does not run a command. */
export type RefusalCode = typeof REFUSAL_CODES[number];

/** Limits of a command that every device holds. */
export const DEVICE_LIMITS = {
  argumentCount: 256,
  /** Of all arguments together, in UTF-8. */
  argumentBytes: 65_536,
  timeoutSeconds: 86_400,
  outputBytes: 262_144,
} as const;
