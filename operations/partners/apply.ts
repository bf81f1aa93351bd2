import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { ANONYMOUS_ACTOR, PLATFORM_TENANT, say } from "../../contract/domain/mod.ts";
import { randomHex, requestSeal } from "../../ledger/mod.ts";
import { type Db, inTenant, normalizeEmail } from "../../store/mod.ts";
import { addApplication, type NewApplication, takeApplicationId } from "../../store/crm/mod.ts";
import { addMessage } from "../../store/notices/mod.ts";
import { oneLine, text, trimmedText } from "../schemas/mod.ts";
import { ApplicationId } from "./_schemas.ts";

/** Takes an application of somebody who wants to become a partner. */
export const applyAsPartner = operation({
  name: "partners.apply",
  group: "partners",
  summary: "Apply as a partner",
  description:
    "For the form of a website, without a key. It has limits of its own, of each address and of all together. What is sent " +
    "is kept for the operator alone; the receipt and the feed have its number.",
  effect: "write",
  access: "public",
  input: z.object({
    name: oneLine(1, 200),
    email: z.string().max(320)
      .refine((address) => normalizeEmail(address) !== undefined, {
        error: "Expected one e-mail address, such as ada@example.com",
      }),
    company: oneLine(1, 200),
    website: z.url({ protocol: /^https?$/, error: "Expected an http or https address" }).max(500)
      .optional(),
    message: trimmedText(1, 4_000).describe("What you have in mind"),
    consent: z.literal(true, { error: "Expected true: without it nothing may be kept" })
      .describe("True: you agree that these data are kept to answer you"),
    fax_number: text(0, 200).optional().describe(
      "Leave it empty. It is hidden from people, and programs that fill it in are not heard",
    ),
  }),
  output: z.object({ application_id: ApplicationId, status: z.literal("new") }),
  rest: { partner_apply: "POST /api/v1/website/partner-applications" },
  presentation: { hints: { destructive: false } },
  governance: { rule: "key-decides", limits: { perDay: "applications" } },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: {
      name: "Ada Lovelace",
      email: "ada@example.com",
      company: "Analytical Engines",
      website: "https://engines.example.com",
      message: "We would like to resell your platform in London.",
      consent: true,
    },
    output: { application_id: 17, status: "new" },
  },
  run: async ({ fax_number, consent: _, ...fields }, context) =>
    await context.commit(async (trx) => {
      const id = await takeApplicationId(trx);
      // A program gets the answer that everybody gets, and learns nothing by it.
      if (!fax_number) {
        await inTenant(trx, PLATFORM_TENANT, (platform) => keep(platform, id, fields, context));
      }
      return { application_id: id, status: "new" as const };
    }),
});

/** Stores and seals an application, and tells the operator of it. */
async function keep(
  trx: Db,
  id: number,
  fields: Omit<NewApplication, "receipt_id">,
  { caller }: Context,
): Promise<void> {
  const receipt_id = randomHex(16);
  const { email } = normalizeEmail(fields.email)!;
  await addApplication(trx, id, { ...fields, email, receipt_id });
  await requestSeal(trx, {
    id: receipt_id,
    category: "partner_application",
    actor: caller.keyId === null ? ANONYMOUS_ACTOR : `key:${caller.keyId}`,
    subject: `application:${id}`,
    action: "partners.apply",
    outcome: "new",
  });
  await addMessage(trx, {
    kind: "partner.applied",
    from: "website",
    subject: say`Partner application ${id}`,
    text:
      say`Somebody has applied as a partner, under number ${id}. GET /api/v1/admin/partner-applications shows it to keys of tier admin.`,
    refs: { application_id: String(id), receipt_id },
  });
}
