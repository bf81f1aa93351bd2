/**
 * Remote management of the operator's: Fleet.
 *
 * ```ts
 * const fleet = openFleet(config); // undefined: none is set
 * const { total, online } = await fleet.count();
 * ```
 *
 * Doesn't trust: its answers beyond their shape.
 * @module
 */
export { type FleetHost, openFleet, type RmmClient } from "./fleet.ts";
