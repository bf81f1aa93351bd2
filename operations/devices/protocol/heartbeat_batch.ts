import { randomBytes } from "node:crypto";
import { sha256 } from "../../../ledger/crypto/mod.ts";
import { canonicalize } from "../../../ledger/mod.ts";
import {
  computeInclusionRoot,
  computeRoot,
  type Hash,
  hashLeaf,
} from "../../../ledger/rules/mod.ts";
import type { HeartbeatBatch, SeenDevice } from "../../../store/devices/mod.ts";

const SALT_BYTES = 32;

/** The tree over the newest heartbeats of all tenants. */
export interface BatchTree {
  /** Public. It tells nothing of how many tenants and devices there are. */
  readonly root: Hash;
  /** Each tenant's part. */
  readonly parts: ReadonlyMap<
    string,
    Pick<HeartbeatBatch, "heartbeats" | "salt" | "place" | "places" | "proof">
  >;
}

/**
 * Builds the tree: a tenant's leaves are its devices, and the leaves of the public tree are the tenants' roots, each hashed
 * with a salt that only the tenant has, in the order of these hashes.
 *
 * @param seen at least one
 */
export function buildBatch(seen: readonly SeenDevice[]): BatchTree {
  const byTenant = new Map<string, SeenDevice[]>();
  for (const one of seen) {
    const devices = byTenant.get(one.tenant);
    if (devices) devices.push(one);
    else byTenant.set(one.tenant, [one]);
  }
  const tenants = [...byTenant].map(([tenant, devices]) => {
    const heartbeats = devices.map(({ deviceId, counter, seenAt }) => ({
      device_id: deviceId,
      counter,
      seen_at: seenAt.toISOString(),
    }));
    const salt = randomBytes(SALT_BYTES);
    return { tenant, heartbeats, salt, leaf: hashSalted(salt, heartbeats) };
  }).sort((a, b) => Buffer.compare(a.leaf, b.leaf));
  const leaves = tenants.map(({ leaf }) => leaf);
  const proofs = leaves.map((): Buffer[] => []);
  const root = proveLeaves(leaves, proofs, 0, leaves.length);
  const parts = tenants.map(({ tenant, heartbeats, salt }, place) =>
    [tenant, {
      heartbeats: canonicalize(heartbeats),
      salt,
      place,
      places: leaves.length,
      proof: proofs[place]!,
    }] as const
  );
  return { root, parts: new Map(parts) };
}

/** Returns the public root that a tenant's part leads to; undefined: its proof is too long or too short. */
export function computeBatchRoot(
  { heartbeats, salt, place, places, proof }: Omit<HeartbeatBatch, "receiptId" | "endedAt">,
): Hash | undefined {
  const leafHash = hashSalted(salt, JSON.parse(heartbeats));
  return computeInclusionRoot({ leafHash, index: place, size: places, proof }, sha256);
}

/** Returns the leaf of a tenant in the public tree. */
function hashSalted(salt: Uint8Array, heartbeats: readonly unknown[]): Hash {
  const leaves = heartbeats.map((one) => hashLeaf(Buffer.from(canonicalize(one)), sha256));
  return hashLeaf(Buffer.concat([salt, computeRoot(leaves, sha256)]), sha256);
}

/**
 * Adds to the proof of each leaf what leads to the root of the leaves from one to another.
 *
 * @returns that root
 * @see RFC 6962 §2.1.1
 */
function proveLeaves(
  leaves: readonly Hash[],
  proofs: readonly Buffer[][],
  from: number,
  to: number,
): Hash {
  if (to - from === 1) return leaves[from]!;
  let middle = 1;
  while (middle * 2 < to - from) middle *= 2;
  middle += from;
  const left = proveLeaves(leaves, proofs, from, middle);
  const right = proveLeaves(leaves, proofs, middle, to);
  for (let n = from; n < to; n++) proofs[n]!.push(Buffer.from(n < middle ? right : left));
  return computeRoot([left, right], sha256);
}
