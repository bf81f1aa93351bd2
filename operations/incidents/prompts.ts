import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { draftPostmortem, requireTicket } from "./tickets/mod.ts";
import { listTicketEvents, listTickets } from "../../store/incidents/mod.ts";
import { TicketId } from "../schemas/mod.ts";
import { FULL, FULL_AND_AUDIT } from "../scopes.ts";

/** Open tickets that are shown. */
const MAX_OPEN = 20;

const Text = z.object({ type: z.literal("text"), text: z.string() });
const Resource = z.object({
  type: z.literal("resource"),
  resource: z.object({ uri: z.string(), mimeType: z.string(), text: z.string() }),
});
const Prompt = z.object({
  description: z.string(),
  messages: z.array(z.object({ role: z.literal("user"), content: z.union([Text, Resource]) })),
});

const exampleOutput = {
  description: "Triage of the open incidents",
  messages: [textMessage("Triage …")],
};

/** Prompt for the triage of incidents. */
export const triagePrompt = operation({
  name: "prompts.triage",
  group: "prompts",
  summary: "Triage an incident, or all that are open",
  description: "Includes the incident as it stands, and what to do about it in which order.",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: TicketId.optional() }),
  output: Prompt,
  presentation: { prompt: { triage: FULL }, untrusted: true, errors: ["NotFound"] },
  example: { input: {}, output: exampleOutput },
  run: async ({ ticket_id }, { store }) => {
    const db = store.db;
    const instructions = textMessage(
      "Triage what is shown below. For each incident say in one line what is affected, how bad it is and why you think " +
        "so; then what is known of the cause, from itsm_get_incident_timeline and itsm_get_remediation_history, with the " +
        "ids of what you rely on. Name the most urgent first. Where the loop has not looked yet, propose itsm_run_loop " +
        "and wait for a yes before you call it; where an incident waits for people, say what they are asked. Do not " +
        "close a ticket unless you are told to.",
    );
    if (ticket_id) {
      const ticket = await requireTicket(store, ticket_id);
      const events = await listTicketEvents(db, ticket_id);
      const shown = resourceMessage(`sealoop://incidents/${ticket_id}`, { ticket, events });
      return { description: `Triage of ${ticket_id}`, messages: [instructions, shown] };
    }
    const tickets = await listTickets(db, { status: "open", limit: MAX_OPEN, bySeverity: true });
    const shown = resourceMessage("sealoop://incidents", { tickets });
    return { description: "Triage of the open incidents", messages: [instructions, shown] };
  },
});

/** Prompt for the postmortem of an incident. */
export const postmortemPrompt = operation({
  name: "prompts.postmortem",
  group: "prompts",
  summary: "Write the postmortem of an incident",
  description: "Includes the platform's draft from its facts: timeline, repairs, receipts.",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: TicketId }),
  output: Prompt,
  presentation: { prompt: { postmortem: FULL }, untrusted: true, errors: ["NotFound"] },
  example: { input: { ticket_id: "INC-4f1d22a90b7c" }, output: exampleOutput },
  run: async ({ ticket_id }, { store, urls }) => {
    const ticket = await requireTicket(store, ticket_id);
    const draft = await draftPostmortem(store, ticket, urls.ledger);
    const instructions = textMessage(
      "Write a blameless postmortem from the draft below. Keep its timeline and its ids as they are; say what " +
        "happened in five sentences that a person outside the team understands; separate what is known from what is " +
        "supposed. Leave open, and ask for, what the draft leaves to people. End with at most five actions, each " +
        "with what it would have changed.",
    );
    const shown = resourceMessage(`sealoop://tickets/${ticket_id}`, { draft });
    return { description: `Postmortem of ${ticket_id}`, messages: [instructions, shown] };
  },
});

/** Prompt for an audit of the ledger. */
export const auditPrompt = operation({
  name: "prompts.audit",
  group: "prompts",
  summary: "Audit the ledger of receipts",
  description: "Includes the state of the chain, and how to check it without trusting the server.",
  effect: "read",
  access: "key",
  input: z.object({
    question: z.string().max(500).optional().describe("Question of the audit, one sentence"),
  }),
  output: Prompt,
  presentation: { prompt: { audit: FULL_AND_AUDIT }, untrusted: true },
  example: { input: {}, output: exampleOutput },
  run: async ({ question }, { chain, urls }) => {
    const instructions = textMessage(
      "Audit the ledger. First ledger.verify_chain: say whether the chain holds, as of which receipt, and name every " +
        "break. Then look for what bears on the question with ledger.search_receipts, and verify each receipt that " +
        "you rely on with ledger.verify_receipt. Report in this order: whether the record can be relied on; what it " +
        "shows, each statement with its receipt's id; what it does not show. A receipt holds commitments and no " +
        `texts: say where evidence would have to be asked for. Anyone can check it at ${urls.ledger}.`,
    );
    const asked = question === undefined
      ? []
      : [resourceMessage("sealoop://receipts", { question_of_the_audit: question })];
    const state = resourceMessage("sealoop://receipts", { chain: await chain.look() });
    return { description: "Audit of the ledger", messages: [instructions, ...asked, state] };
  },
});

function textMessage(text: string) {
  return { role: "user", content: { type: "text", text } } as const;
}

/** Returns a message that shows data, which agents are told apart from instructions. */
function resourceMessage(uri: string, value: unknown) {
  const resource = { uri, mimeType: "application/json", text: JSON.stringify(value) };
  return { role: "user", content: { type: "resource", resource } } as const;
}
