import { z } from "zod";
import type { Realm } from "./_realm.ts";

/** Attribute of an organization that names its tenant. */
const ATTRIBUTE = "sealoop_tenant";
const PAGE = 100;
const MAX_PAGES = 100;

/** Fields that we don't know stay as they are when an organization is changed. */
const Organization = z.looseObject({
  id: z.string().regex(/^[\w-]{1,100}$/),
  name: z.string(),
  domains: z.array(z.looseObject({ name: z.string() })).default([]),
  attributes: z.record(z.string(), z.array(z.string())).default({}),
});
const Organizations = z.array(Organization);

/** A tenant, as far as an identity provider has to know it. */
export interface IdentityTenant {
  readonly id: string;
  readonly name: string;
  readonly alias: string | null;
  readonly domains: readonly string[];
}

/** An organization of Keycloak. */
export type Organization = z.output<typeof Organization>;

/** Lists all organizations that carry the id of a tenant, by that id. @throws {RemoteFailed} */
export async function listOrganizations(
  realm: Realm,
): Promise<Map<string, Organization[]>> {
  const byTenant = new Map<string, Organization[]>();
  for (let page = 0; page < MAX_PAGES; page++) {
    const found = await realm.read({
      method: "GET",
      path: `/organizations?briefRepresentation=false&first=${page * PAGE}&max=${PAGE}`,
      answer: Organizations,
    });
    for (const one of found) {
      for (const tenant of one.attributes[ATTRIBUTE] ?? []) {
        byTenant.set(tenant, [...byTenant.get(tenant) ?? [], one]);
      }
    }
    if (found.length < PAGE) break;
  }
  return byTenant;
}

/** Finds the organizations that carry the id of a tenant. @throws {RemoteFailed} */
export async function findOrganizations(
  realm: Realm,
  tenant: string,
): Promise<Organization[]> {
  const query = encodeURIComponent(`${ATTRIBUTE}:"${tenant}"`);
  const found = await realm.read({
    method: "GET",
    path: `/organizations?briefRepresentation=false&q=${query}`,
    answer: Organizations,
  });
  return found.filter(({ attributes }) => attributes[ATTRIBUTE]?.includes(tenant));
}

/** Makes the organization of a tenant. @throws {RemoteFailed} */
export async function addOrganization(realm: Realm, tenant: IdentityTenant): Promise<void> {
  await realm.act({
    method: "POST",
    path: "/organizations",
    body: {
      name: tenant.name,
      alias: tenant.alias ?? tenant.id, // one of a kind there, too
      enabled: true,
      domains: tenant.domains.map(toDomain),
      attributes: { [ATTRIBUTE]: [tenant.id] },
    },
  });
}

/** Gives an organization the name and the domains of its tenant. Domains that it has besides stay. @throws {RemoteFailed} */
export async function updateOrganization(
  realm: Realm,
  organization: Organization,
  { name, domains }: IdentityTenant,
): Promise<void> {
  const missing = domains.filter((domain) => !hasDomain(organization, domain));
  await realm.act({
    method: "PUT",
    path: `/organizations/${organization.id}`,
    body: {
      ...organization,
      name,
      domains: [...organization.domains, ...missing.map(toDomain)],
    },
  });
}

/** Returns whether an organization has the name and the domains of its tenant. */
export function isCurrent(organization: Organization, { name, domains }: IdentityTenant): boolean {
  return organization.name === name && domains.every((domain) => hasDomain(organization, domain));
}

function hasDomain({ domains }: Organization, domain: string): boolean {
  return domains.some(({ name }) => name === domain);
}

function toDomain(name: string) {
  return { name, verified: false };
}
