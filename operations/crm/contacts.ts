import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { Contact, ContactId, exampleContact } from "../../contract/records/mod.ts";
import { findContactByEmail, listContacts } from "../../store/crm/mod.ts";
import { FULL } from "../scopes.ts";
import {
  addNewContact,
  authorOf,
  changeContact,
  duplicateContact,
  mergeContact,
  requireContact,
} from "./_contacts.ts";
import { ContactInput, ExpectedVersion, pageLimit } from "./_schemas.ts";

/** Contacts, newest first. */
export const contactList = operation({
  name: "contacts.list",
  group: "crm",
  summary: "List contacts, newest first",
  effect: "read",
  access: "key",
  input: z.object({
    limit: pageLimit(500, 100),
    email: ContactInput.email.optional().describe("Only the contact with this address"),
    before: ContactId.optional().describe("Only contacts older than this one: the last of a page"),
  }),
  output: z.object({ total: z.number().int(), contacts: z.array(Contact) }),
  rest: { contacts_list: "GET /api/contacts" },
  presentation: { untrusted: true },
  example: { input: { limit: 1 }, output: { total: 1, contacts: [exampleContact] } },
  run: async ({ email, ...page }, { store }) => {
    if (email === undefined) return await listContacts(store.db, page);
    const contact = await findContactByEmail(store.db, email);
    const contacts = contact ? [contact] : [];
    return { total: contacts.length, contacts };
  },
});

/** Adds a contact, or adds to the one that has its address. */
export const createContact = operation({
  name: "contacts.create",
  group: "crm",
  summary: "Add a contact",
  description:
    "An e-mail address is unique in your organization: upper and lower case and Unicode's spellings count as the same, dots " +
    "and `+` don't. A second contact with it is refused with the `contact_id` of the first, or merged into it by " +
    '`on_duplicate: "merge"`: empty fields are filled, tags are united, and what is there stays. An address that was opted ' +
    "out or erased stays opted out, unless a person whose key may approve states the new consent over REST.",
  effect: "write",
  access: "key",
  input: z.object({
    ...ContactInput,
    on_duplicate: z.enum(["error", "merge"]).default("error").describe(
      "What to do where a contact has this address",
    ),
  }),
  output: Contact,
  rest: { contacts_create: "POST /api/contacts" },
  tool: { crm_create_contact: FULL },
  presentation: {
    toolText: {
      crm_create_contact:
        "An e-mail address is unique: a second contact with it is refused with the first one's contact_id, or merged by `on_duplicate`.",
    },
    hints: { destructive: false },
    untrusted: true,
    errors: ["Conflict"],
  },
  governance: {
    rule: "key-decides",
    async check({ email, on_duplicate }, { store }) {
      const known = on_duplicate === "error" && await findContactByEmail(store.db, email);
      if (known) throw duplicateContact(known);
    },
  },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: {
      name: "Ada Lovelace",
      email: "Ada@Example.com",
      company: "Analytical Engines",
      tags: ["newsletter"],
      source: "website",
      owner: "charles",
      consent: { email: "opt_in", basis: "website form" },
    },
    output: exampleContact,
  },
  run: async ({ on_duplicate, consent, ...fields }, context) => {
    const author = authorOf(context, "contacts.create");
    return await context.commit(async (trx) => {
      let contact_id = await addNewContact(trx, fields, consent, author);
      if (contact_id === undefined && on_duplicate === "error") {
        throw duplicateContact((await findContactByEmail(trx, fields.email))!);
      }
      contact_id ??= await mergeContact(trx, fields, consent, author);
      return await requireContact(trx, contact_id);
    });
  },
});

/** Changes a contact. */
export const updateContact = operation({
  name: "contacts.update",
  group: "crm",
  summary: "Change fields of a contact, or record its consent to e-mail",
  description:
    "Fields that are left out stay; null empties one. `opt_out` holds for good: the address is not mailed any more, even " +
    "after the contact was erased or added again.",
  effect: "write",
  access: "key",
  input: z.object({
    contact_id: ContactId,
    ...ContactInput,
    name: ContactInput.name.optional(),
    email: ContactInput.email.optional(),
    version: ExpectedVersion,
  }),
  output: Contact,
  tool: { crm_update_contact: FULL },
  presentation: {
    toolText: {
      crm_update_contact:
        "Fields that are left out stay; null empties one. `opt_out` holds for good.",
    },
    untrusted: true,
    errors: ["NotFound", "Conflict"],
  },
  governance: {
    rule: "key-decides",
    async check({ contact_id }, { store }) {
      await requireContact(store.db, contact_id);
    },
  },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: { contact_id: exampleContact.contact_id, phone: "+44 20 7946 0000", version: 1 },
    output: { ...exampleContact, phone: "+44 20 7946 0000", version: 2 },
  },
  run: async ({ contact_id, ...changes }, context) => {
    const author = authorOf(context, "contacts.update");
    return await context.commit(async (trx) => {
      await changeContact(trx, contact_id, changes, author);
      return await requireContact(trx, contact_id);
    });
  },
});
