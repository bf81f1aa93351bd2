/**
 * The tool server: every operation's tool doors, over the Model Context Protocol.
 *
 * ```ts
 * const { app, close } = createToolServer({ operations, invoke, entrance, shell, limits, loopback: true });
 * const server = await serve(app, settings, 8081);
 * ```
 *
 * Trusts: no one without a key; a key is checked when the stream opens, at each message, and at each call.
 * @module
 */
export { createToolServer, type ToolServer, type ToolServerParts } from "./app.ts";
export { PACE, type Pace } from "./sessions.ts";
export { bindTools, registry, type Tool, type Tools } from "./tools.ts";
export type { ToolDescription } from "./handlers.ts";
export { serveStdio, type StdioParts } from "./stdio.ts";
export type { FindInjection, Injection } from "./untrusted.ts";
