import { z } from "zod";
import type { DeepReadonly } from "./deep_readonly.ts";
import { oneLine, Timestamp } from "./texts.ts";

/** Id of a contact. */
export const ContactId = z.string()
  .regex(/^CON-[0-9a-f]{12}$/, "Expected CON- and 12 hex characters")
  .describe("Id of the contact, such as CON-5b1e09c77a42");

/** Fields of a contact that people write. Consent is none of them: it is stated with its basis, and has rules of its own. */
export const ContactFields = z.object({
  name: oneLine(1, 200).describe("Name of the person"),
  email: z.string().max(320).describe(
    "E-mail address; unique in your organization, however it is spelled",
  ),
  phone: oneLine(1, 50).nullable().optional(),
  company: oneLine(1, 200).nullable().optional(),
  tags: z.array(oneLine(1, 50)).max(50).optional().describe(
    "Labels; they replace those that are there",
  ),
  source: oneLine(1, 100).nullable().optional().describe("Where the contact came from"),
  owner: oneLine(1, 200).nullable().optional().describe("Principal who looks after it"),
});

/** Fields of a contact that people write. */
export type ContactFields = DeepReadonly<z.output<typeof ContactFields>>;

/** A person that a tenant deals with. */
export const Contact = z.object({
  contact_id: ContactId,
  name: z.string(),
  email: z.string(),
  phone: z.string().nullable(),
  company: z.string().nullable(),
  tags: z.array(z.string()),
  source: z.string().nullable(),
  consent: z.object({
    email: z.enum(["none", "opt_in", "opt_out"]).describe("opt_out: the address is never mailed"),
    at: Timestamp.nullable(),
    basis: z.string().nullable(),
  }),
  owner: z.string().nullable(),
  created_at: Timestamp,
  version: z.number().int(),
}).meta({ id: "Contact" });

/** A person that a tenant deals with. */
export type Contact = DeepReadonly<z.output<typeof Contact>>;

/** A contact, in examples. */
export const exampleContact: Contact = {
  contact_id: "CON-5b1e09c77a42",
  name: "Ada Lovelace",
  email: "ada@example.com",
  phone: null,
  company: "Analytical Engines",
  tags: ["newsletter"],
  source: "website",
  consent: { email: "opt_in", at: "2026-07-01T12:00:00.000Z", basis: "website form" },
  owner: "charles",
  created_at: "2026-07-01T12:00:00.000Z",
  version: 1,
};
