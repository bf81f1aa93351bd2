/**
 * Agents of other organizations, which speak A2A: those that the operator has configured, and how to talk to them.
 *
 * ```ts
 * const [peer] = listPeers(config, tenant);
 * const { state, text } = await openPeer(config, peer).send({ messageId, contextId, text: "Is the link up?" });
 * ```
 *
 * Doesn't trust: their cards and replies. A credential goes to the configured origin alone.
 * @module
 */
export { openPeer, type PeerCard, type PeerClient } from "./peer_client.ts";
export { listPeers, type Peer } from "./peers_file.ts";
