import type { RefusalCode } from "./devices.ts";

/** States of a command. The last seven are final, but for what the device states later about one of the platform's own. */
export const COMMAND_STATUSES = [
  "waiting_approval",
  "queued",
  "sealed",
  "delivered",
  "begun",
  "done",
  "failed",
  "timed_out",
  "refused",
  "expired",
  "cancelled",
  "unknown",
] as const;

/** State of a command. */
export type CommandStatus = typeof COMMAND_STATUSES[number];

/** A state in which a command stays. */
export type CommandEnd = Exclude<
  CommandStatus,
  "waiting_approval" | "queued" | "sealed" | "delivered" | "begun"
>;

const OPEN: ReadonlySet<CommandStatus> = new Set([
  "waiting_approval",
  "queued",
  "sealed",
  "delivered",
  "begun",
]);

/** Returns whether a command has ended. */
export function hasCommandEnded(status: CommandStatus): status is CommandEnd {
  return !OPEN.has(status);
}

/** A statement of a device's runner, as it is signed and sealed. */
export interface DeviceStatement {
  readonly action: "command_execution" | "data_egress";
  readonly command_id?: string | undefined;
  readonly phase: "begun" | "ended";
  readonly status:
    | "begun"
    | "sending"
    | "done"
    | "failed"
    | "timed_out"
    | "refused"
    | "expired"
    | "unknown";
  readonly code?: RefusalCode | undefined;
  readonly exit_code?: number | undefined;
  readonly bytes?: number | undefined;
  readonly output_sha256?: string | undefined;
  readonly destination_class?: string | undefined;
  /** Number of the statement in the runner's journal. */
  readonly sequence: number;
  readonly nonce: string;
  /** Ed25519 over the canonical form of all other fields. */
  readonly signature: string;
}

/** News of a command in a device's heartbeat. Its talker says so, and nobody signs it. */
export interface CommandAck {
  readonly command_id: string;
  readonly result: "begun" | "known" | "busy" | "stale" | "refused" | "output";
  readonly code?: string | undefined;
  readonly salt?: string | undefined;
  /** Base64. */
  readonly output?: string | undefined;
}

/** Returns the id of a command's workflow. */
export const commandWorkflowId = (commandId: string): string => `command-${commandId}`;

/** Result of a command's workflow. */
export interface CommandResult {
  readonly command_id: string;
  readonly status: CommandEnd;
  readonly code: string | null;
  readonly receipt_id: string | null;
}
