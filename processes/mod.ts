/**
 * Parts of the platform's programs. Each program is a file of this folder; {@linkcode runProcess} runs it.
 *
 * ```ts
 * await runProcess("gateway", async (parts) => {
 *   const { invoke, close } = await openPlatform(parts, "gateway");
 *   …
 * });
 * ```
 *
 * @module
 */
export { createGatewayApp } from "./_gateway_app.ts";
export { GATEWAY_INFO } from "./_gateway_info.ts";
export { startLedger } from "./_ledger.ts";
export { safeMakerOf } from "./_make_safe.ts";
export { type OpenPlatform, openPlatform } from "./_platform.ts";
export type { Place } from "./_presence.ts";
export { runProcess, SUPERVISED } from "./_process.ts";
export { SCHEMAS } from "./_schemas.ts";
export { followReadFiles } from "./_settings_files.ts";
export { openToolServer } from "./_tool_server.ts";
export { runToEnd } from "./_end.ts";
