/**
 * The supervisor of `npm start`: brings the platform up as one tree of processes, and restarts what ends.
 *
 * ```ts
 * const gateway = openChild({ name: "gateway", program, … }); // loads
 * const address = await gateway.start({ SEALOOP_DATABASE_GATEWAY_URL: … });
 * ```
 *
 * @module
 */
export { type Child, openChild } from "./child.ts";
export { keepServer } from "./kept_server.ts";
export { initialEnvironment, PROCESSES, serverEnvironment } from "./process_list.ts";
export { prepareDatabase } from "./prepare.ts";
export { openProgress } from "./progress.ts";
export { runPlatform } from "./platform.ts";
