import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  type TypedSearchAttributes,
} from "@temporalio/common";
import { PLATFORM_TENANT } from "./names.ts";

/** Search attributes, by which an operator filters in the Web UI. `temporal.yaml` has the same types. */
export const ATTRIBUTE = {
  tenant: defineSearchAttributeKey("SealoopTenant", "KEYWORD"),
  step: defineSearchAttributeKey("SealoopStep", "KEYWORD"),
  service: defineSearchAttributeKey("SealoopService", "KEYWORD"),
  ticket: defineSearchAttributeKey("SealoopTicket", "KEYWORD"),
  receipt: defineSearchAttributeKey("SealoopReceipt", "KEYWORD"),
  outcome: defineSearchAttributeKey("SealoopOutcome", "KEYWORD"),
} as const;

/** Returns the search attributes that a loop starts with. */
export const startAttributes = (
  { service, check }: { readonly service: string | null; readonly check: string },
) => [
  { key: ATTRIBUTE.step, value: "DETECT" },
  { key: ATTRIBUTE.service, value: service ?? (check === "report" ? "reported" : check) },
];

/** Returns the search attribute that says whose a run is. Every run that a tenant's key asks for is started with it. */
export const tenantAttribute = (tenant: string) => ({ key: ATTRIBUTE.tenant, value: tenant });

/** Returns the tenant of a run that is started with search attributes: the operator's, if they name none. */
export function tenantOfAttributes(
  attributes: TypedSearchAttributes | readonly SearchAttributePair[] | undefined,
): string {
  const pairs = attributes && "getAll" in attributes ? attributes.getAll() : attributes ?? [];
  const named = pairs.find(({ key }) => key.name === ATTRIBUTE.tenant.name);
  return named ? String(named.value) : PLATFORM_TENANT;
}
