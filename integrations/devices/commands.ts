import type { DeviceBundle } from "../../domain/mod.ts";
import type { Db, DeviceRecord, Store } from "../../store/mod.ts";

/** What a device says of a command. */
export interface CommandAck {
  readonly command_id: string;
  readonly result: string;
  /** Of a refusal. */
  readonly code?: string | undefined;
  /** Of the commitment to the output, hex. */
  readonly salt?: string | undefined;
  /** Base64. */
  readonly output?: string | undefined;
}

/**
 * Lists commands that were issued and not acknowledged, in the order of their sequence.
 *
 * @param size of the log that all proofs are about
 */
export function listBundles(_: Store, __: DeviceRecord, ___: number): Promise<DeviceBundle[]> {
  return Promise.resolve([]);
}

/** Takes what a device says of a command. */
export function takeAck(_: Db, __: DeviceRecord, ___: CommandAck): Promise<void> {
  return Promise.resolve();
}
