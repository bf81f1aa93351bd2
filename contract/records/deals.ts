import { z } from "zod";
import { ContactId, exampleContact } from "./contacts.ts";
import type { DeepReadonly } from "./deep_readonly.ts";
import { oneLine, Timestamp } from "./texts.ts";

/** Id of a deal. */
export const DealId = z.string()
  .regex(/^DEAL-[0-9a-f]{12}$/, "Expected DEAL- and 12 hex characters")
  .describe("Id of the deal, such as DEAL-9c77a425b1e0");

const CURRENCIES = new Set(Intl.supportedValuesOf("currency"));

/** Fields of a deal that people write, besides its contact. */
export const DealFields = z.object({
  title: oneLine(1, 200).describe("What is to be sold"),
  amount_minor: z.number().int().min(0).max(1_000_000_000_000).describe(
    "Amount in the currency's smallest unit: 1250 is 12.50 EUR, or 1250 JPY",
  ),
  currency: z.string().regex(/^[A-Z]{3}$/, "Expected three capital letters")
    .refine((code) => CURRENCIES.has(code), { error: "Expected a currency of ISO 4217" })
    .describe("Currency by ISO 4217, such as EUR"),
  expected_close: z.iso.date({ error: "Expected a date, as 2026-09-30" }).nullable().optional()
    .describe("Day by which it should be decided"),
});

/** Fields of a deal that people write. */
export type DealFields = DeepReadonly<z.output<typeof DealFields>> & Pick<Deal, "contact_id">;

/** Something that may be sold to a contact. */
export const Deal = z.object({
  deal_id: DealId,
  title: z.string(),
  contact_id: ContactId.nullable().describe("Null: the contact was erased"),
  pipeline: z.string(),
  stage: z.string(),
  amount_minor: z.number().int(),
  currency: z.string(),
  expected_close: z.string().nullable(),
  status: z.enum(["open", "won", "lost"]).describe("Follows from the stage"),
  created_at: Timestamp,
  version: z.number().int(),
}).meta({ id: "Deal" });

/** Something that may be sold to a contact. */
export type Deal = DeepReadonly<z.output<typeof Deal>>;

/** A deal, in examples. */
export const exampleDeal: Deal = {
  deal_id: "DEAL-9c77a425b1e0",
  title: "Engine for the observatory",
  contact_id: exampleContact.contact_id,
  pipeline: "sales",
  stage: "proposal",
  amount_minor: 1_250_000,
  currency: "EUR",
  expected_close: "2026-09-30",
  status: "open",
  created_at: "2026-07-01T12:00:00.000Z",
  version: 3,
};
