import { z } from "zod";
import type { TenantRecord } from "../../store/keys/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

/** Id of an organization. */
const OrgId = z.string().min(1).max(200).describe(
  "Id of the organization: the tenant of its keys and devices",
);

/** A domain of mail addresses. */
export const Domain = z.string().max(253).regex(
  /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
  "Expected a domain in lower case, such as acme.example",
);

/** An organization. */
export const Tenant = z.object({
  org_id: OrgId,
  name: z.string(),
  alias: z.string().nullable(),
  domains: z.array(z.string()).describe("Domains of its mail addresses"),
  status: z.enum(["active", "pending", "failed"]).describe(
    "pending: it is not registered at the identity provider yet",
  ),
  idp: z.object({
    mode: z.enum(["built_in", "keycloak"]),
    id: z.string().nullable(),
    synced_at: Timestamp.nullable(),
  }).describe("The identity provider; built_in: the platform's own keys"),
  devices: z.number().int().describe("Number of its devices"),
  created_at: Timestamp,
}).meta({ id: "Tenant" });

/** Describes an organization. */
export function toTenant(record: TenantRecord): z.output<typeof Tenant> {
  return {
    org_id: record.id,
    name: record.name,
    alias: record.alias,
    domains: [...record.domains],
    status: record.status,
    idp: {
      mode: record.idpMode,
      id: record.idpId,
      synced_at: record.idpSyncedAt?.toISOString() ?? null,
    },
    devices: record.devices,
    created_at: record.createdAt.toISOString(),
  };
}

/** An organization, in examples. */
export const exampleTenant: z.output<typeof Tenant> = {
  org_id: "acme",
  name: "Acme Ltd",
  alias: "acme",
  domains: ["acme.example"],
  status: "active",
  idp: { mode: "built_in", id: "acme", synced_at: "2026-07-01T12:00:00.000Z" },
  devices: 3,
  created_at: "2026-07-01T12:00:00.000Z",
};
