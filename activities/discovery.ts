import { cancellationSignal } from "@temporalio/activity";
import { receiptIdOf } from "../calls/mod.ts";
import type { DiscoveryOrder, DiscoveryResult } from "../domain/mod.ts";
import { listTargets, scanAddresses } from "../integrations/discovery/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { findDevicesByAddress } from "../store/mod.ts";
import type { ActivityParts } from "./parts.ts";

/** Creates the activity that discovers hosts. */
export function discoveryActivities({ config, store }: ActivityParts) {
  /**
   * Tries to connect to addresses from the platform's own host, and requests the receipt. Addresses are checked against the
   * settings of this worker, whatever the request was allowed by. Safe to repeat: it connects and closes, and the run names
   * the receipt.
   */
  async function discoverHosts(
    { targets, ports, requested_by, run }: DiscoveryOrder,
  ): Promise<DiscoveryResult> {
    const { addresses, refused } = listTargets(
      { targets, ports },
      config.settings.SEALOOP_DISCOVERY_ALLOW,
    );
    const found = await scanAddresses(addresses, ports, cancellationSignal());
    const devices = await findDevicesByAddress(store.db, found.map(({ address }) => address));
    const hosts = found.map(({ address, ports }) => {
      return { address, ports, device_id: devices.get(address) ?? null };
    });
    const receipt_id = receiptIdOf(run, "DISCOVER");
    await store.db.transaction((trx) =>
      requestSeal(trx, {
        id: receipt_id,
        category: "device_discovery",
        actor: requested_by,
        subject: run.workflow_id,
        action: "devices.discover",
        outcome: "done",
        details: {
          scanned: addresses.length,
          refused,
          ports: ports.length,
          hosts: hosts.length,
          ...run,
        },
        evidence: { targets: JSON.stringify({ targets, ports }), hosts: JSON.stringify(hosts) },
      })
    );
    return { hosts, scanned: addresses.length, refused, receipt_id };
  }

  return { discoverHosts };
}
