import { z } from "zod";
import { listTicketEvents, listTickets } from "../../store/mod.ts";
import { FULL, FULL_AND_AUDIT } from "../_audience.ts";
import { draftOf } from "./_postmortem_draft.ts";
import { existingTicket, TicketId } from "../_ticket_shapes.ts";
import { operation } from "../../calls/mod.ts";

const Text = z.object({ type: z.literal("text"), text: z.string() });
const Embedded = z.object({
  type: z.literal("resource"),
  resource: z.object({ uri: z.string(), mimeType: z.string(), text: z.string() }),
});
const Prompt = z.object({
  description: z.string(),
  messages: z.array(z.object({ role: z.literal("user"), content: z.union([Text, Embedded]) })),
});

const common = {
  group: "prompts",
  effect: "read",
  access: "key",
  untrusted: true,
  output: Prompt,
} as const;
const exampleOutput = {
  description: "Triage of the open incidents",
  messages: [{ role: "user" as const, content: { type: "text" as const, text: "Triage …" } }],
};
const Ticket = TicketId.describe("Id of the ticket, as INC-4f1d22a90b7c");
const MOST_OPEN = 20;

const says = (text: string) => ({
  role: "user" as const,
  content: { type: "text" as const, text },
});
const shows = (uri: string, value: unknown) => ({
  role: "user" as const,
  content: {
    type: "resource" as const,
    resource: { uri, mimeType: "application/json", text: JSON.stringify(value) },
  },
});

/** Leads through what to do about what is open. */
export const triagePrompt = operation({
  ...common,
  name: "prompts.triage",
  summary: "Triage an incident, or all that are open",
  description: "With the incident as it stands, and what to do about it in which order.",
  input: z.object({ ticket_id: Ticket.optional() }),
  prompt: { triage: FULL },
  example: { input: {}, output: exampleOutput },
  errors: ["NotFound"],
  run: async ({ ticket_id }, { store }) => {
    const steps = says(
      "Triage what is shown below. For each incident say in one line what is affected, how bad it is and why you think " +
        "so; then what is known of the cause, from itsm_get_incident_timeline and itsm_get_remediation_history, with the " +
        "ids of what you rely on. Name the most urgent first. Where the loop has not looked yet, propose itsm_run_loop " +
        "and wait for a yes before you call it; where an incident waits for people, say what they are asked. Do not " +
        "close a ticket unless you are told to.",
    );
    if (ticket_id) {
      const ticket = await existingTicket(store, ticket_id);
      const events = await listTicketEvents(store.asPlatform(), ticket_id);
      return {
        description: `Triage of ${ticket_id}`,
        messages: [steps, shows(`sealoop://incidents/${ticket_id}`, { ticket, events })],
      };
    }
    const tickets = await listTickets(store.asPlatform(), {
      status: "open",
      limit: MOST_OPEN,
      bySeverity: true,
    });
    return {
      description: "Triage of the open incidents",
      messages: [steps, shows("sealoop://incidents", { tickets })],
    };
  },
});

/** Leads from the facts of an incident to what its people write about it. */
export const postmortemPrompt = operation({
  ...common,
  name: "prompts.postmortem",
  summary: "Write the postmortem of an incident",
  description: "With the draft that the platform makes of its facts: timeline, repairs, receipts.",
  input: z.object({ ticket_id: Ticket }),
  prompt: { postmortem: FULL },
  example: { input: { ticket_id: "INC-4f1d22a90b7c" }, output: exampleOutput },
  errors: ["NotFound"],
  run: async ({ ticket_id }, { store, urls }) => {
    const ticket = await existingTicket(store, ticket_id);
    const draft = await draftOf(ticket, { store, urls });
    return {
      description: `Postmortem of ${ticket_id}`,
      messages: [
        says(
          "Write a blameless postmortem from the draft below. Keep its timeline and its ids as they are; say what " +
            "happened in five sentences that a person outside the team understands; separate what is known from what is " +
            "supposed. Leave open, and ask for, what the draft leaves to people. End with at most five actions, each " +
            "with what it would have changed.",
        ),
        shows(`sealoop://tickets/${ticket_id}`, { draft }),
      ],
    };
  },
});

/** Leads through an audit of the ledger. */
export const auditPrompt = operation({
  ...common,
  name: "prompts.audit",
  summary: "Audit the ledger of receipts",
  description: "With the state of the chain, and how to check it without taking the server's word.",
  input: z.object({
    question: z.string().max(500).optional().describe("What the audit is to answer, in a sentence"),
  }),
  prompt: { audit: FULL_AND_AUDIT },
  example: { input: {}, output: exampleOutput },
  run: ({ question }, { chain, urls }) => {
    const asked = question === undefined
      ? []
      : [shows("sealoop://receipts", { question_of_the_audit: question })];
    return Promise.resolve({
      description: "Audit of the ledger",
      messages: [
        says(
          "Audit the ledger. First ledger.verify_chain: say whether the chain holds, as of which receipt, and name every " +
            "break. Then look for what bears on the question with ledger.search_receipts, and verify each receipt that " +
            "you rely on with ledger.verify_receipt. Report in this order: whether the record can be relied on; what it " +
            "shows, each statement with its receipt's id; what it does not show. A receipt holds commitments and no " +
            `texts: say where evidence would have to be asked for. Anyone can check it at ${urls.ledger}.`,
        ),
        ...asked,
        shows("sealoop://receipts", { chain: chain.state() }),
      ],
    });
  },
});
