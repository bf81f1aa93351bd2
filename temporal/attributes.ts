import { defineSearchAttributeKey } from "@temporalio/common";

/** What an operator can filter by in the Web UI. The types are those of `temporal.yaml`. */
export const ATTRIBUTE = {
  step: defineSearchAttributeKey("SealoopStep", "KEYWORD"),
  service: defineSearchAttributeKey("SealoopService", "KEYWORD"),
  ticket: defineSearchAttributeKey("SealoopTicket", "KEYWORD"),
  receipt: defineSearchAttributeKey("SealoopReceipt", "KEYWORD"),
  outcome: defineSearchAttributeKey("SealoopOutcome", "KEYWORD"),
} as const;
