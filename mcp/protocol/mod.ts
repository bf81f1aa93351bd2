/**
 * The Model Context Protocol, as its two SDKs speak it: revisions with a handshake (to 2025-11-25) by
 * `@modelcontextprotocol/sdk`, stateless ones (from 2026-07-28) by `@modelcontextprotocol/server`.
 *
 * ```ts
 * const session = await openHttpSession(handlers, { id, events });
 * const response = await session.handle({ request, body, requestId, address, credential });
 * ```
 *
 * No other folder imports the SDKs, so that a new major version of theirs changes this folder alone.
 * @module
 */
export { servePipe } from "./pipe.ts";
export {
  type HttpExchange,
  InvalidMessage,
  openHttpSession,
  openSseChannel,
  type SseChannel,
} from "./session_transports.ts";
export { serveStatelessClients, type StatelessClients } from "./stateless_http.ts";
