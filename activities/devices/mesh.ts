/** The ways between devices, measured by their agents on a schedule. */
import { groundsOf } from "../../contract/records/mod.ts";
import { createHash } from "node:crypto";
import { log } from "@temporalio/activity";
import { orderCommand } from "../../operations/devices/orders/mod.ts";
import { forTenant } from "../../calls/mod.ts";
import { findAllowed } from "../../integrations/discovery/mod.ts";
import { MESH_SCRIPT, type MeshPeer, readMeshPeers } from "../../judgement/shield/mod.ts";
import { getApprovers, listDevicesToMeasure } from "../../store/devices/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import type { ActivityParts } from "../parts.ts";

/** Devices of one tenant that are given a measurement in one round, and rounds are a minute apart. */
const MAX_ORDERS = 5;
/** Other devices that one measures the way to: those that follow it in the order of their ids. */
const MAX_PEERS = 16;
/** Port that is tried: a machine that refuses the connection has answered. */
const PORT = 22;
const EXPIRES_SECONDS = 600;
const HOUR_MS = 3_600_000;

/** Creates the activity that has the ways between devices measured. */
export function meshActivities(parts: ActivityParts) {
  const { store, config: { settings } } = parts;
  const { SEALOOP_MESH_HOURS: hours, SEALOOP_DISCOVERY_ALLOW: allow } = settings;

  /**
   * Orders measurements of all tenants that are due, some at a time: in networks that the operator allows, by devices that
   * are online. Tenants whose devices ask for signatures are left out, as people would have to sign each. Safe to repeat:
   * device and period name the command.
   *
   * @returns how many were ordered
   */
  async function orderMeasurements(): Promise<number> {
    if (hours === 0 || allow.length === 0) return 0;
    let ordered = 0;
    for (const tenant of await listTenants(store.db)) {
      const owner = forTenant(parts, tenant);
      const due = await listDevicesToMeasure(owner.store.db, MESH_SCRIPT, hours, MAX_ORDERS);
      if (due.length === 0) continue;
      if ((await getApprovers(owner.store.db))?.approvers.signatures_required) continue;
      const peers = (await readMeshPeers(owner.store.db)).sort((a, b) => a.id < b.id ? -1 : 1);
      for (const id of due) if (await orderOne(owner, id, peers)) ordered++;
    }
    return ordered;
  }

  async function orderOne(
    owner: ActivityParts,
    deviceId: string,
    peers: readonly MeshPeer[],
  ): Promise<boolean> {
    const targets = listTargets(deviceId, peers);
    if (targets.length === 0) return false;
    const period = Math.floor(Date.now() / (hours * HOUR_MS));
    const hash = createHash("sha256").update(`mesh ${deviceId} ${period}`).digest("hex");
    try {
      await orderCommand(owner, {
        id: `CMD-${hash.slice(0, 12)}`,
        deviceId,
        script_id: MESH_SCRIPT,
        parameters: { targets: targets.join(",") },
        expires_in_seconds: EXPIRES_SECONDS,
        needed: 0, // the operator has allowed the networks
        grounds: groundsOf({ rule: "mesh", reasons: ["The ways between devices are measured"] }),
        askedBy: "mesh",
        askedByKey: null,
      });
      return true;
    } catch (error) {
      log.warn(`${deviceId} can't measure its ways`, { error: String(error) });
      return false;
    }
  }

  /** Lists addresses of the devices that follow one, as far as they may be tried. */
  function listTargets(deviceId: string, peers: readonly MeshPeer[]): string[] {
    const at = peers.findIndex(({ id }) => id === deviceId);
    const others = [...peers.slice(at + 1), ...peers.slice(0, Math.max(0, at))];
    const own = new Set(peers[at]?.addresses); // of what many machines have alike, such as bridges of containers
    const foreign = others.map(({ addresses }) => addresses.filter((one) => !own.has(one)));
    return foreign.flatMap((addresses) => findAllowed(addresses, allow) ?? [])
      .slice(0, MAX_PEERS)
      .map((address) => address.includes(":") ? `[${address}]:${PORT}` : `${address}:${PORT}`);
  }

  return { orderMeasurements };
}
