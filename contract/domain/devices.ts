import type { Passkey, SignedStatement } from "./passkeys.ts";

/**
 * Reasons for which a device does not run a command, in the order of its checks. The agent has the same list
 * (`agent/sources/`); a test holds them equal.
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
  /** Bytes of all arguments together, in UTF-8. */
  argumentBytes: 65_536,
  timeoutSeconds: 86_400,
  outputBytes: 262_144,
} as const;

/** A command as it is issued to a device. Its receipt commits to the canonical form of exactly this. */
export interface DeviceCommand {
  /** `CMD-` and 12 hex. */
  readonly command_id: string;
  readonly device_id: string;
  /** Rises with each command of the device, which takes none that is not above the last. */
  readonly sequence: number;
  /** Program and arguments; no shell. The program `sealoop-agent` is the agent itself. */
  readonly argv: readonly string[];
  /** Name of an account on the device; `agent`: the one that runs the agent's privileged half. */
  readonly user: string;
  readonly timeout_seconds: number;
  readonly output_bytes: number;
  readonly read_only: boolean;
  /** null: the arguments are nobody's script. */
  readonly script: {
    readonly id: string;
    readonly version: number;
    readonly sha256: string;
  } | null;
  /** ISO 8601 with offset. */
  readonly expires_at: string;
  readonly approval: {
    readonly approval_id: string;
    /** SHA-256 of the canonical command without `sequence` and `approval`. */
    readonly action_sha256: string;
    readonly needed: number;
  } | null;
}

/** The log in the answer to a heartbeat. */
export interface DeviceLog {
  /** Newest checkpoint, a C2SP note with cosignatures. */
  readonly checkpoint: string;
  /** Hashes, hex, that lead from the heartbeat's `log_size` to the checkpoint's. */
  readonly consistency: readonly string[];
}

/** A command with all that a device checks it by. */
export interface DeviceBundle {
  readonly command: DeviceCommand;
  /** Salt of the commitment `details.commitments.command`, 64 hex. */
  readonly salt: string;
  /** Exported records, as texts: the one that issues the command, and those that hand over to later ledger keys. */
  readonly records: readonly string[];
  /** Proofs that the records are in the log of the checkpoint that is sent beside the bundle. */
  readonly proofs: readonly { readonly leaf: string; readonly hashes: readonly string[] }[];
  /** Signatures by approvers' own keys, and what their passkeys have signed. */
  readonly approvals: readonly (
    | { readonly key: string; readonly signature: string }
    | PasskeyApproval
  )[];
  /** Proof that the command is the script that it is labelled with; without one it counts as free arguments. */
  readonly release?: {
    readonly script: DeviceScript;
    /** Of the release receipt's commitment to the script. */
    readonly salt: string;
    /** Exported release receipt, as a text. */
    readonly record: string;
    readonly proof: DeviceBundle["proofs"][number];
  };
}

/** A passkey of an approver, as devices pin it. */
export interface ApproverPasskey extends Passkey {
  /** Domain that it is for. */
  readonly rp_id: string;
  /** Origin of the pages on which it signs. */
  readonly origin: string;
}

/** A statement about the approval of a command that an approver's passkey has signed. Its pinned credential says whose it is. */
export interface PasskeyApproval extends Pick<SignedStatement, "statement" | "list" | "assertion"> {
  /** 64 hex: SHA-256 over it and the canonical action is the statement's `act`. */
  readonly salt: string;
}

/** A script as its release commits to it, and as a device compares a command with it. */
export interface DeviceScript {
  readonly id: string;
  readonly version: number;
  readonly sha256: string;
  /** With `{name}` in the place of a parameter's value. */
  readonly argv: readonly string[];
  readonly parameters: Readonly<
    Record<string, { readonly pattern: string; readonly lines: boolean }>
  >;
  readonly user: string;
  readonly timeout_seconds: number;
  readonly output_bytes: number;
  readonly read_only: boolean;
}

/** Returns a script as its release commits to it. @param document as its file has it */
export function toDeviceScript(
  { name, version, sha256, document }: {
    readonly name: string;
    readonly version: number;
    readonly sha256: string;
    readonly document: unknown;
  },
): DeviceScript {
  const { argv, parameters, user, timeout_seconds, output_bytes, read_only } =
    document as DeviceScript;
  return {
    id: name,
    version,
    sha256,
    argv,
    parameters: Object.fromEntries(
      Object.entries(parameters).map(([name, { pattern, lines }]) => [name, { pattern, lines }]),
    ),
    user,
    timeout_seconds,
    output_bytes,
    read_only,
  };
}

/** First line of the text that an approver signs; the rest is canonical JSON. */
export const APPROVAL_DOMAIN = "sealoop-approval-v1\n";
/** First line of the text by which a pinned approver names other approvers. */
export const APPROVERS_DOMAIN = "sealoop-approvers-v1\n";

/** Kind of the action by which a new device takes the place of one whose keys are lost. */
export const REPLACE_DEVICE = "replace_device";
