import { z } from "zod";
import { ContactFields, ContactId, exampleContact } from "../../contract/records/mod.ts";
import { normalizeEmail } from "../../store/mod.ts";
import { ACTIVITY_KINDS } from "../../store/crm/mod.ts";
import { oneLine, Timestamp, trimmedText } from "../schemas/mod.ts";

/** Id of a deal. */
export const DealId = z.string()
  .regex(/^DEAL-[0-9a-f]{12}$/, "Expected DEAL- and 12 hex characters")
  .describe("Id of the deal, such as DEAL-9c77a425b1e0");

/** Version of a record that a caller has read. */
export const ExpectedVersion = z.number().int().min(1).optional().describe(
  "Version that you have read: if the record has another one by now, nothing is changed (409)",
);

/** Fields of a contact in an input. All but name and address may be left out; null empties one. */
export const ContactInput = {
  ...ContactFields.shape,
  email: ContactFields.shape.email.refine((address) => normalizeEmail(address) !== undefined, {
    error: "Expected one e-mail address, such as ada@example.com, without a name or brackets",
  }),
  consent: z.object({
    email: z.enum(["opt_in", "opt_out"]),
    basis: trimmedText(1, 200).describe(
      "What it rests on: a form and its date, a contract, what was said",
    ),
  }).optional().describe("Consent to e-mail, as the person gave or withdrew it"),
};

const CURRENCIES = new Set(Intl.supportedValuesOf("currency"));

/** Fields of a deal in an input. */
export const DealInput = {
  title: oneLine(1, 200).describe("What is to be sold"),
  amount_minor: z.number().int().min(0).max(1_000_000_000_000).describe(
    "Amount in the currency's smallest unit: 1250 is 12.50 EUR, or 1250 JPY",
  ),
  currency: z.string().regex(/^[A-Z]{3}$/, "Expected three capital letters")
    .refine((code) => CURRENCIES.has(code), { error: "Expected a currency of ISO 4217" })
    .describe("Currency by ISO 4217, such as EUR"),
  expected_close: z.iso.date({ error: "Expected a date, as 2026-09-30" }).nullable().optional()
    .describe("Day by which it should be decided"),
};

/** Name of a stage in an input. */
export const StageName = z.string().min(1).max(40).describe(
  "Stage of the deal's pipeline, as GET /api/pipeline/stats lists them",
);

/** A deal. */
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

/** A deal, in examples. */
export const exampleDeal: z.output<typeof Deal> = {
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

/** An activity. */
export const Activity = z.object({
  activity_id: z.string(),
  kind: z.enum(ACTIVITY_KINDS),
  contact_id: ContactId.nullable(),
  deal_id: DealId.nullable(),
  actor: z.string().describe("key:<id>, operator, or the part of the platform that did it"),
  summary: z.string(),
  at: Timestamp,
  receipt_id: z.string().nullable(),
});

/** Returns the page size of a list. */
export function pageLimit(max: number, fallback: number) {
  return z.number().int().min(1).max(max).default(fallback).describe(
    "Maximum number of entries to return",
  );
}
