/**
 * Temporal: where it is, and what it must know of the platform.
 *
 * ```ts
 * const { client, close } = await connectTemporal(config);
 * await registerTemporal(client, config);
 * await ensureSequencer(client);
 * ```
 *
 * @module
 */
export * from "./connect.ts";
export * from "./register.ts";
export { sdkLogger } from "./sdk_log.ts";
export { startWorkers } from "./workers.ts";
