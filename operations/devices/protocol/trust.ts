import { Problem } from "../../../contract/mod.ts";
import { getPublishedCheckpoint, getPublishingState, listLedgerKeys } from "../../../ledger/mod.ts";
import type { Store } from "../../../store/mod.ts";
import { type Approvers, getApprovers } from "../../../store/devices/mod.ts";

/** Keys and approvers that a device pins when it is installed, in the form of its agent. */
interface DeviceTrust {
  readonly ledger_keys: readonly {
    readonly public_key: string;
    readonly from_position: number;
    readonly recovery_key?: string;
  }[];
  readonly log_key: string;
  readonly witnesses: readonly string[];
  /** Witnesses that must have cosigned. */
  readonly quorum: number;
  /** `version` is absent where nobody has named approvers. */
  readonly approvers: Approvers & { readonly version?: number };
}

/** Pins of a device, and a checkpoint that it can begin with. */
export interface DeviceRoots {
  readonly trust: DeviceTrust;
  /** Signed note with its cosignatures. */
  readonly checkpoint: string;
}

/**
 * Reads what a device of the store's tenant has to pin: the keys of the ledger, its log and witnesses as the sequencer
 * uses them, and the tenant's approvers.
 *
 * @throws {Problem} `Unavailable`: the ledger has published no checkpoint yet
 */
export async function readDeviceRoots(store: Store): Promise<DeviceRoots> {
  const [keys, published, publishing, approvers] = await Promise.all([
    listLedgerKeys(store),
    getPublishedCheckpoint(store),
    getPublishingState(store),
    getApprovers(store.db),
  ]);
  if (!published?.size || !publishing || keys.length === 0) {
    throw new Problem(
      "Unavailable",
      "Cannot enrol devices yet: the ledger has published no checkpoint; try again in a few seconds",
      { headers: { "retry-after": "5" } },
    );
  }
  // After a recovery two keys begin at one position; the later one is in force.
  const byPosition = new Map(keys.map((key) => [key.fromPosition, key]));
  const trust: DeviceTrust = {
    ledger_keys: [...byPosition.values()].map(({ publicKey, fromPosition, recoveryKey }) => ({
      public_key: publicKey,
      from_position: fromPosition,
      ...(recoveryKey === undefined ? {} : { recovery_key: recoveryKey }),
    })),
    log_key: published.verifierKey,
    witnesses: publishing.witnesses.map(({ verifier_key }) => verifier_key),
    quorum: publishing.quorum,
    approvers: approvers
      ? { ...approvers.approvers, version: approvers.version }
      : { signatures_required: 0, keys: [] },
  };
  return { trust, checkpoint: published.note };
}
