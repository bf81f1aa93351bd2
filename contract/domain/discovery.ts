import type { RunId } from "./incidents.ts";

/** Bounds of one discovery. The agent has the first two as well. */
export const DISCOVERY_LIMITS = {
  addresses: 1_024,
  ports: 64,
  /** Addresses times ports. */
  probes: 8_192,
} as const;

/** Ports that are tried where a request names none. */
export const DISCOVERY_PORTS = [22, 80, 443, 445, 3389, 5900, 8080, 8443] as const;

/** A discovery to run. */
export interface DiscoveryRequest {
  /** Where it looks. In a field of an object, so that no history holds the addresses. */
  readonly targets: readonly string[];
  readonly ports: readonly number[];
  /** Device that looks; absent: the platform's own host. */
  readonly via_device?: string;
  readonly requested_by: string;
  /** Principal of the key; absent: a test. */
  readonly asked_by?: string;
}

/** A discovery with its run. */
export interface DiscoveryOrder extends DiscoveryRequest {
  readonly run: RunId;
}

/** A host that was found. */
export interface DiscoveredHost {
  readonly address: string;
  /** Ports that accept TCP connections; empty: it is known as a neighbour alone. */
  readonly ports: readonly number[];
  /** Device of the tenant that has the address; null: none is known. */
  readonly device_id: string | null;
}

/** Result of a discovery. */
export interface DiscoveryResult {
  readonly hosts: readonly DiscoveredHost[];
  /** Number of addresses that were looked at. */
  readonly scanned: number;
  /** Number of addresses that may not be looked at. */
  readonly refused: number;
  readonly receipt_id: string;
}
