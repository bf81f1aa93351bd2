/**
 * The tool server: the operations as tools, resources and prompts of the Model Context Protocol, and as skills of A2A.
 *
 * ```ts
 * const { app, close } = createToolServer({ operations, invoke, auth, http, limits, makeSafe, loopback: true });
 * const server = await serve(app, settings, 8081);
 * ```
 *
 * Trusts: no one without a key. A key is checked when a stream opens, at every message and at every call.
 * @module
 */
export { createToolServer } from "./server.ts";
export type { SessionTiming } from "./session_timing.ts";
export { serveStdio } from "./stdio.ts";
export { MAX_RESULT, shape, takeView } from "./results/mod.ts";
export { bindTools, describeTools, findTool, nameTools, ownTools } from "./tools.ts";
export { createMakeSafe, describeUntrusted, type MakeSafe } from "./untrusted.ts";
