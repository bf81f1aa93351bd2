import { defineSearchAttributeKey } from "@temporalio/common";

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
