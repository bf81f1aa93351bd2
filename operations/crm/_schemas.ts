import { z } from "zod";
import { ContactFields } from "../../contract/records/mod.ts";
import { normalizeEmail } from "../../store/mod.ts";
import { trimmedText } from "../schemas/mod.ts";

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

/** Name of a stage in an input. */
export const StageName = z.string().min(1).max(40).describe(
  "Stage of the deal's pipeline, as GET /api/pipeline/stats lists them",
);

/** Returns the page size of a list. */
export function pageLimit(max: number, fallback: number) {
  return z.number().int().min(1).max(max).default(fallback).describe(
    "Maximum number of entries to return",
  );
}
