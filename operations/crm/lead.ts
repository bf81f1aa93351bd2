import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { emailIdOf, sendConfirmation } from "../mail/sending/mod.ts";
import { ANONYMOUS_ACTOR, joinTexts, say } from "../../contract/domain/mod.ts";
import { recordChange } from "./records/mod.ts";
import { randomHex } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import { findContactByEmail } from "../../store/crm/mod.ts";
import { addMessage } from "../../store/notices/mod.ts";
import { oneLine, text, trimmedText } from "../schemas/mod.ts";
import { insertContact } from "./_contacts.ts";
import { ContactInput } from "./_schemas.ts";

/** Takes what a visitor of a website has written. */
export const captureLead = operation({
  name: "leads.capture",
  group: "missions",
  summary: "Take a lead from the form of a website",
  description:
    "For forms, without a key. The answer is always `{ok: true}`, so that nobody learns who is known. A new address becomes a " +
    "contact whose consent to e-mail is `none`; a contact that is there is not altered. Where mail is configured, an address " +
    "without consent gets one mail a day with a link that confirms it; else a person does. The feed tells people what was " +
    "written. Without `consent` nothing is kept. It has limits of its own, of each address and of all together.",
  effect: "write",
  access: "public",
  input: z.object({
    name: oneLine(1, 200).optional().describe("Name of the person; default: what is before the @"),
    email: ContactInput.email.describe("E-mail address of the person"),
    message: trimmedText(1, 4_000).optional().describe("What the person has written"),
    consent: z.boolean().describe("True: the person agreed that these data are kept to answer"),
    source: oneLine(1, 100).default("website").describe("The form or page"),
    fax_number: text(0, 200).optional().describe(
      "Leave it empty. It is hidden from people, and programs that fill it in are not heard",
    ),
  }),
  output: z.object({ ok: z.literal(true) }),
  rest: { leads_capture: "POST /api/leads/capture" },
  presentation: { hints: { destructive: false } },
  governance: { rule: "key-decides", limits: { perDay: "leads" } },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: {
      name: "Ada Lovelace",
      email: "ada@example.com",
      message: "Please call me about the engine.",
      consent: true,
      source: "article",
    },
    output: { ok: true },
  },
  run: async ({ fax_number, consent, ...lead }, context) => {
    const { decisionId, caller: { keyId } } = context;
    const id = emailIdOf(decisionId);
    let kept: Awaited<ReturnType<typeof keep>> | undefined;
    const answer = await context.commit(async (trx) => {
      if (consent && !fax_number) kept = await keep(trx, lead, id, context);
      return { ok: true as const };
    });
    if (kept?.isUnconfirmed) {
      // Not awaited, so that the time of the answer does not tell who is known.
      const order = { id, email: lead.email, receiptId: kept.receiptId, askedByKey: keyId };
      sendConfirmation(context, order).catch((error) => {
        context.log.warn({ err: error }, "cannot ask the holder of an address for consent");
      });
    }
    return answer;
  },
});

interface Lead {
  readonly name?: string | undefined;
  readonly email: string;
  readonly message?: string | undefined;
  readonly source: string;
}

/**
 * Adds a contact where there is none, and tells people what was written. Its receipt has the same public form for every
 * lead, with a subject that is nowhere else: anybody can send an address, and read the ledger.
 *
 * @param emailId of the mail that asks for consent, where the contact has said nothing yet about mail
 */
async function keep(
  trx: Db,
  lead: Lead,
  emailId: string,
  { caller }: Context,
): Promise<{ readonly isUnconfirmed: boolean; readonly receiptId: string }> {
  const { email, message, source } = lead;
  const name = lead.name ?? email.trim().split("@")[0]!;
  const actor = caller.keyId === null ? ANONYMOUS_ACTOR : `key:${caller.keyId}`;
  const author = { actor, action: "leads.capture", isPerson: false };
  const added = await insertContact(trx, { name, email, source }, undefined, author);
  const contact = added ?? (await findContactByEmail(trx, email))!;
  const { contact_id: contactId } = contact;
  const isUnconfirmed = contact.consent.email === "none";
  const receiptId = await recordChange(trx, {
    ...author,
    kind: "contact.lead",
    contactId,
    subject: `LEAD-${randomHex(12)}`,
    summary: added === undefined ? "Wrote through a form" : "Created by a form",
    evidence: {
      lead: {
        is_new: added !== undefined,
        contact,
        message: message ?? null,
        source,
        asked_by: isUnconfirmed ? emailId : null,
      },
    },
  });
  await addMessage(trx, {
    kind: "lead.captured",
    from: "website",
    subject: added === undefined
      ? say`${contactId} has written through a form`
      : say`Lead ${contactId}`,
    text: joinTexts([
      say`${name} <${email.trim()}>, ${source}`,
      message ?? say`Nothing was written.`,
      ...added === undefined ? [] : [say`Its consent to e-mail is none until that is confirmed.`],
    ], "\n\n"),
    refs: { contact_id: contactId },
  });
  return { isUnconfirmed, receiptId };
}
