/** The mesh: which devices of a tenant reach each other, by what their agents have measured. */
import { z } from "zod";
import type { Db } from "../../store/mod.ts";
import {
  type DeviceInterfaces,
  listDeviceInterfaces,
  listMeshMeasurements,
} from "../../store/devices/mod.ts";

/** Script of the catalogue by which agents measure. */
export const MESH_SCRIPT = "mesh-reach";

/** A way from one device to another, as the first has measured it. */
export interface MeshLink {
  readonly from: string;
  readonly to: string;
  /** Address and port that it tried. */
  readonly target: string;
  readonly reachable: boolean;
  /** Shortest of three times; null: there was no answer. */
  readonly microseconds: number | null;
  readonly measuredAt: Date;
}

/** The devices of a tenant, and the ways between them. */
export interface Mesh {
  readonly peers: readonly MeshPeer[];
  readonly links: readonly MeshLink[];
}

/** A device of a mesh. */
export interface MeshPeer {
  readonly id: string;
  readonly name: string;
  /** Addresses that others may reach it by. */
  readonly addresses: readonly string[];
}

const Interfaces = z.array(z.object({ addresses: z.array(z.string().max(60)) }));
const Measured = z.object({
  peers: z.array(z.object({
    target: z.string().max(60),
    reachable: z.boolean(),
    microseconds: z.number().int().min(0).nullable(),
  })).max(64),
});

/** Reads the devices of a tenant with their addresses. */
export async function readMeshPeers(db: Db): Promise<MeshPeer[]> {
  return (await listDeviceInterfaces(db)).map((device) => ({
    id: device.id,
    name: device.name,
    addresses: addressesOf(device),
  }));
}

/** Reads the mesh of a tenant. Addresses that are no device's are left out. */
export async function readMesh(db: Db, script = MESH_SCRIPT): Promise<Mesh> {
  const [peers, measurements] = await Promise.all([
    readMeshPeers(db),
    listMeshMeasurements(db, script),
  ]);
  const measured = measurements.flatMap(({ deviceId, output, measuredAt }) =>
    parseOutput(output).map((peer) => ({ ...peer, from: deviceId, measuredAt }))
  );
  const owners = new Map<string, string[]>();
  for (const { id, addresses } of peers) {
    for (const address of addresses) owners.set(address, [...owners.get(address) ?? [], id]);
  }
  return {
    peers,
    links: measured.flatMap((link) => {
      const to = owners.get(addressOf(link.target))?.find((id) => id !== link.from);
      return to === undefined ? [] : [{ ...link, to }];
    }),
  };
}

/** Returns the median of the times of the ways that are open, milliseconds; null: there are none. */
export function medianMs(links: readonly MeshLink[]): number | null {
  const times = links.flatMap(({ microseconds }) => microseconds ?? []).sort((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)];
  return middle === undefined ? null : Math.round(middle / 10) / 100;
}

/** Describes a mesh by counts. */
export function describeMesh(
  { links }: Mesh,
): { readonly status: "ok" | "degraded"; readonly detail: string } {
  const open = links.filter(({ reachable }) => reachable).length;
  return {
    status: open === links.length ? "ok" : "degraded",
    detail: links.length === 0
      ? "No way between devices was measured yet"
      : `${open} of ${links.length} ways between devices are open`,
  };
}

function parseOutput(output: string): z.output<typeof Measured>["peers"] {
  try {
    return Measured.parse(JSON.parse(output)).peers;
  } catch {
    return []; // a device prints what it likes
  }
}

function addressOf(target: string): string {
  return target.replace(/:\d{1,5}$/, "").replace(/^\[|\]$/g, "");
}

function addressesOf({ interfaces }: DeviceInterfaces): string[] {
  const { data = [] } = Interfaces.safeParse(interfaces);
  return data.flatMap(({ addresses }) => addresses)
    .filter((address) => !/^(127\.|::1$|fe80:)/.test(address)).slice(0, 50);
}
