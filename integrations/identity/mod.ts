/**
 * The identity provider: a realm of a Keycloak of the operator's, or the platform's own list of organizations.
 *
 * ```ts
 * const keycloak = openKeycloak(config); // undefined: none is set
 * const provider = openIdentityProvider(keycloak);
 * const { outcome } = await provider.register(tenant);
 * ```
 *
 * Doesn't trust: Keycloak's answers beyond their shape. What became of an act is read back.
 * @module
 */
export type { IdentityTenant } from "./_organizations.ts";
export { type KeycloakClient, openKeycloak } from "./keycloak.ts";
export { type IdentityProvider, openIdentityProvider } from "./provider.ts";
