/**
 * The systems outside the platform, one file each: this host among them.
 *
 * ```ts
 * const holder = (await listeningSockets()).find(({ port }) => port === 8080);
 * ```
 *
 * @module
 */
export * from "./sockets.ts";
export * from "./probe.ts";
export * from "./restart.ts";
export * from "./services_file.ts";
