/**
 * The operator's own systems, in whose remote forms integrations work.
 *
 * ```ts
 * const { soar } = openOutside(config); // undefined: SEALOOP_N8N_URL is not set
 * ```
 *
 * @module
 */
export { openOutside, type OutsideSystems, remoteSettingsOf } from "./outside.ts";
