import { defineSearchAttributeKey } from "@temporalio/common";

/** What an operator can filter by in the Web UI. The types are those of `temporal.yaml`. */
export const ATTRIBUTE = {
  step: defineSearchAttributeKey("SealoopStep", "KEYWORD"),
  service: defineSearchAttributeKey("SealoopService", "KEYWORD"),
  ticket: defineSearchAttributeKey("SealoopTicket", "KEYWORD"),
  receipt: defineSearchAttributeKey("SealoopReceipt", "KEYWORD"),
  outcome: defineSearchAttributeKey("SealoopOutcome", "KEYWORD"),
} as const;

/** What a loop is filtered by from its start on. @param finding that it is about */
export const startAttributes = (
  { service, check }: { readonly service: string | null; readonly check: string },
) => [
  { key: ATTRIBUTE.step, value: "DETECT" },
  { key: ATTRIBUTE.service, value: service ?? (check === "report" ? "reported" : check) },
];
