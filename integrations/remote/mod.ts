/**
 * The guarded client of systems of others that the operator has set: one time limit for all attempts, retries of reads
 * alone, a pause after failures, and messages that name neither address, credential nor answer.
 *
 * ```ts
 * const opa = openRemoteClient({ system: "OPA", url, credential: () => ({ authorization: `Bearer ${token()}` }) });
 * const { result } = await opa.read({ method: "POST", path: "/v1/data/a", body: { input }, answer: Result });
 * ```
 *
 * Trusts: the address that the operator has set. Doesn't trust: the server behind it.
 * @module
 */
export { type CircuitBreaker, openCircuitBreaker } from "./circuit_breaker.ts";
export { type FailedOutcome, RemoteFailed } from "./errors.ts";
export { remember } from "./remember.ts";
export { openRemoteClient, type RemoteClient } from "./remote_client.ts";
export { openRemoteSocket, type SocketFailure, type SocketMove } from "./remote_socket.ts";
