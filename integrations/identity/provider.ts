import { RemoteFailed } from "../remote/mod.ts";
import {
  addOrganization,
  findOrganizations,
  type IdentityTenant,
  isCurrent,
  listOrganizations,
  type Organization,
  updateOrganization,
} from "./_organizations.ts";
import type { KeycloakClient } from "./keycloak.ts";

/** Result of the registration of a tenant. */
type Registration =
  | { readonly outcome: "done"; readonly id: string }
  | { readonly outcome: "not_done" | "unknown"; readonly reason: string };

/** State of a tenant at an identity provider. `ambiguous`: several organizations carry its id. */
type IdentityState = "missing" | "outdated" | "current" | "ambiguous";

/** Knows the organizations that people belong to. */
export interface IdentityProvider {
  readonly mode: "built_in" | "keycloak";
  /** Compares tenants with what is registered. @throws {RemoteFailed} */
  compare(tenants: readonly IdentityTenant[]): Promise<ReadonlyMap<string, IdentityState>>;
  /**
   * Registers a tenant, or brings it up to date, with one attempt. It is looked up before, so that a repetition never makes
   * a second organization, and afterwards, as proof.
   */
  register(tenant: IdentityTenant): Promise<Registration>;
}

/** Opens the identity provider. @param keycloak undefined: the platform's own list is the provider */
export function openIdentityProvider(keycloak: KeycloakClient | undefined): IdentityProvider {
  if (!keycloak) return BUILT_IN;
  const { realm } = keycloak;
  return {
    mode: "keycloak",
    async compare(tenants) {
      const organizations = await listOrganizations(realm);
      return new Map(
        tenants.map((tenant) => [tenant.id, stateOf(organizations.get(tenant.id) ?? [], tenant)]),
      );
    },
    async register(tenant) {
      const before = await tryTo(() => findOrganizations(realm, tenant.id));
      if (before.failure) return { outcome: "not_done", reason: before.failure.message };
      const state = stateOf(before.result, tenant);
      const [known] = before.result;
      if (state === "ambiguous") return { outcome: "not_done", reason: AMBIGUOUS };
      if (state === "current") return { outcome: "done", id: known!.id };
      const { failure } = await tryTo(() =>
        known ? updateOrganization(realm, known, tenant) : addOrganization(realm, tenant)
      );
      const after = await tryTo(() => findOrganizations(realm, tenant.id));
      const found = after.result ?? [];
      if (stateOf(found, tenant) === "current") return { outcome: "done", id: found[0]!.id };
      return failure
        ? { outcome: failure.outcome, reason: describeFailure(failure) }
        : { outcome: "unknown", reason: "Keycloak took it, and does not show it" };
    },
  };
}

const AMBIGUOUS = "Several organizations of Keycloak carry its id; leave the attribute to one";

/** The platform's own list: what is in it is registered. */
const BUILT_IN: IdentityProvider = {
  mode: "built_in",
  compare: (tenants) => Promise.resolve(new Map(tenants.map(({ id }) => [id, "current"]))),
  register: ({ id }) => Promise.resolve({ outcome: "done", id }),
};

function stateOf(found: readonly Organization[], tenant: IdentityTenant): IdentityState {
  const [one, another] = found;
  if (!one) return "missing";
  if (another) return "ambiguous";
  return isCurrent(one, tenant) ? "current" : "outdated";
}

type Attempt<Result> =
  | { readonly result: Result; readonly failure?: undefined }
  | { readonly result?: undefined; readonly failure: RemoteFailed };

async function tryTo<Result>(work: () => Promise<Result>): Promise<Attempt<Result>> {
  try {
    return { result: await work() };
  } catch (failure) {
    if (failure instanceof RemoteFailed) return { failure };
    throw failure;
  }
}

/** Keycloak tells why it refuses in words that are not passed on. */
function describeFailure({ code, message }: RemoteFailed): string {
  return code === "refused"
    ? `${message}: another organization may have its name, alias or a domain; some versions want a domain`
    : message;
}
