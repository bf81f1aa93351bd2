/**
 * Discovery: which addresses of a network accept TCP connections. Bounded in addresses, ports and rate.
 *
 * ```ts
 * const { addresses, refused } = listTargets({ targets: ["127.0.0.0/30"], ports }, allow);
 * const hosts = await scanAddresses(addresses, ports, signal);
 * ```
 *
 * Trusts: the operator who allows networks. Doesn't trust: targets, which are addresses alone, so that no name leads
 * elsewhere.
 * @module
 */
export { parseNeighbours, scanAddresses, type ScannedHost } from "./scan.ts";
export { findAllowed, listTargets, type Targets } from "./targets.ts";
