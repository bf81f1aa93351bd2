import type { NewsWatch } from "../../../calls/mod.ts";
import type { CommandAck } from "../../../contract/domain/mod.ts";
import type { Store } from "../../../store/mod.ts";
import type { Journal } from "../../../store/devices/mod.ts";

/** A device's answer to a change of its approvers. */
export interface ApproversAck {
  readonly approvers_version: number;
  readonly result: "taken" | "refused";
}

/** A device's heartbeat, checked. */
export interface HeartbeatMessage {
  readonly counter: number;
  readonly log_size: number;
  /** The accepted checkpoint, a signed note. */
  readonly checkpoint?: string | undefined;
  readonly cosignature?: string | null | undefined;
  readonly journal: Journal;
  /** Version of the approvers that are pinned on the device; 0: none are. */
  readonly approvers_version: number;
  readonly inventory_sha256: string;
  readonly delta?: Readonly<Record<string, unknown>> | undefined;
  readonly firewall?: unknown;
  readonly acks?: readonly (CommandAck | ApproversAck)[] | undefined;
  /** Challenge in the answer to a late heartbeat before. */
  readonly challenge?: string | undefined;
  readonly wait_seconds: number;
}

/** Parts that heartbeats are answered with. */
export interface HeartbeatParts {
  /** In the name of the device's tenant. */
  readonly store: Store;
  readonly watch: NewsWatch;
  /** Number of the lock by which this process shows that it lives. */
  readonly holder: number;
}

/** A heartbeat with what it came with. */
export interface HeartbeatCall {
  readonly deviceId: string;
  readonly message: HeartbeatMessage;
  /** SHA-256 of the request. */
  readonly request: Buffer;
  /** Aborted when the device has gone. The answer is then kept for the repetition. */
  readonly signal: AbortSignal;
}
