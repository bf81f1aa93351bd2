import { setTimeout as sleep } from "node:timers/promises";
import { cancellationSignal } from "@temporalio/activity";
import { z } from "zod";
import { orderCommand } from "../../operations/devices/orders/mod.ts";
import { receiptIdOf } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  describeFailure,
  type DiscoveredHost,
  type DiscoveryOrder,
  type DiscoveryResult,
  hasCommandEnded,
} from "../../contract/domain/mod.ts";
import { groundsOf } from "../../contract/records/mod.ts";
import {
  listTargets,
  scanAddresses,
  type ScannedHost,
  type Targets,
} from "../../integrations/discovery/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { findDevicesByAddress, getDeviceCommand } from "../../store/devices/mod.ts";
import type { ActivityParts } from "../parts.ts";

/** Time within which a device must begin a scan. */
const EXPIRES_SECONDS = 3_600;
/** Longest that one attempt waits for a command. */
const WAIT_MS = 60_000;
const POLL_MS = 500;
/** Longest that the output comes after the command has ended. */
const OUTPUT_WAIT_MS = 600_000;
const ACTOR = "device-discovery";
const LOOPBACK = /^(127\.|::1$)/;

/** Output of the agent's scan. */
const Scan = z.object({
  hosts: z.array(z.object({
    address: z.string().max(60),
    ports: z.array(z.number().int().min(1).max(65_535)).max(64),
  })).max(1_024),
});

/** Creates the activities by which a device discovers hosts. */
export function discoveryActivities(parts: ActivityParts) {
  const { orderScan, awaitScan } = createDiscovery(parts);
  return { orderScan, awaitScan };
}

/** Creates the activity that discovers hosts from the machine of a place. */
export function scanNetworkActivities(parts: ActivityParts) {
  const { discoverHosts } = createDiscovery(parts);
  return { discoverHosts };
}

function createDiscovery({ config, store, temporal }: ActivityParts) {
  const { db } = store;
  const targetsOf = (order: DiscoveryOrder) =>
    listTargets(order, config.settings.SEALOOP_DISCOVERY_ALLOW);

  /**
   * Tries to connect to addresses from the platform's own host, and requests the receipt. Addresses are checked against the
   * settings of this worker, whatever the request was allowed by. Safe to repeat: it connects and closes, and the run names
   * the receipt.
   */
  async function discoverHosts(order: DiscoveryOrder): Promise<DiscoveryResult> {
    const targets = targetsOf(order);
    const found = await scanAddresses(targets.addresses, order.ports, cancellationSignal());
    return await finish(order, targets, found);
  }

  /** Orders the command by which a device looks for hosts. Safe to repeat: the run names the command. */
  async function orderScan(order: DiscoveryOrder): Promise<string> {
    const { command_id } = await orderCommand({ store, temporal }, {
      id: `CMD-${receiptIdOf(order.run, "SCAN").slice(0, 12)}`,
      deviceId: order.via_device!,
      script_id: "network-scan",
      parameters: {
        targets: targetsOf(order).addresses.join(","),
        ports: order.ports.join(","),
      },
      expires_in_seconds: EXPIRES_SECONDS,
      needed: 0, // the call was permitted
      grounds: groundsOf({ rule: "discovery", reasons: ["A discovery"] }),
      askedBy: order.asked_by ?? ACTOR,
      askedByKey: order.requested_by.replace(/^key:/, ""),
    });
    return command_id;
  }

  /**
   * Waits a while for the command of a scan, and requests the receipt once it has ended. Safe to repeat: it only reads, and
   * the run names the receipt.
   *
   * @returns null: the command goes on
   * @throws {Problem} `Conflict`: it has not run, or has failed
   */
  async function awaitScan(
    { order, command_id }: { readonly order: DiscoveryOrder; readonly command_id: string },
  ): Promise<DiscoveryResult | null> {
    const deadline = performance.now() + WAIT_MS;
    while (performance.now() < deadline) {
      const { status, code, output, endedAt } = (await getDeviceCommand(db, command_id))!;
      if (status === "done" && output) {
        return await finish(order, targetsOf(order), readScan(order, output));
      }
      const isLost = status === "done" && Date.now() - endedAt!.getTime() > OUTPUT_WAIT_MS;
      if (hasCommandEnded(status) && (status !== "done" || isLost)) {
        throw new Problem(
          "Conflict",
          `${order.via_device} did not look for hosts: ${command_id} has ended as ${status}${
            code ? ` (${describeFailure(code)})` : ""
          }`,
        );
      }
      await sleep(POLL_MS, undefined, { signal: cancellationSignal() });
    }
    return null;
  }

  /** Reads what a device has printed, as far as it is about addresses that it was asked for. */
  function readScan(order: DiscoveryOrder, output: Buffer): ScannedHost[] {
    const asked = new Set(targetsOf(order).addresses);
    try {
      const { hosts } = Scan.parse(JSON.parse(output.toString()));
      return hosts.filter(({ address }) => asked.has(address));
    } catch {
      throw new Problem("Conflict", `${order.via_device} has printed no list of hosts`);
    }
  }

  async function finish(
    order: DiscoveryOrder,
    { addresses, refused }: Targets,
    found: readonly ScannedHost[],
  ): Promise<DiscoveryResult> {
    const { run, requested_by, via_device = null, ports, targets } = order;
    const devices = await findDevicesByAddress(db, found.map(({ address }) => address));
    const hosts = found.map(({ address, ports }): DiscoveredHost => {
      const device_id = LOOPBACK.test(address) ? via_device : devices.get(address) ?? null;
      return { address, ports, device_id };
    });
    const receipt_id = receiptIdOf(run, "DISCOVER");
    await db.transaction((trx) =>
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
          via_device,
          ...run,
        },
        evidence: { targets: JSON.stringify({ targets, ports }), hosts: JSON.stringify(hosts) },
      })
    );
    return { hosts, scanned: addresses.length, refused, receipt_id };
  }

  return { discoverHosts, orderScan, awaitScan };
}
