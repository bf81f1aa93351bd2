/**
 * Devices of a MeshCentral of the operator's, and whether it reaches them.
 *
 * ```ts
 * const mesh = openMeshCentral(config); // undefined: none is set
 * const devices = await mesh.listDevices();
 * ```
 *
 * Doesn't trust: its answers beyond their shape; names and addresses are others' words.
 * @module
 */
export { type MeshClient, type MeshDevice, openMeshCentral } from "./meshcentral.ts";
