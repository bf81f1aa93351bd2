import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { composedText } from "../../contract/mod.ts";
import { PHASES } from "../../contract/domain/mod.ts";
import { exampleTicket, TicketId, Timestamp } from "../schemas/mod.ts";
import { RepairRecord } from "./figures.ts";
import { Observation } from "./tickets.ts";
import { readFacts, requireTicket, tellStory } from "./tickets/mod.ts";

const Numbers = z.array(z.number().int()).describe("Numbers of observations of its run");

/** An incident as its facts tell it. */
export const Story = z.object({
  ticket_id: TicketId,
  events: z.array(z.object({
    at: Timestamp,
    kind: z.string(),
    phase: z.enum(PHASES).nullable().describe("The step of the loop that was reached by it"),
    says: composedText.describe("Markdown of one line"),
    receipt_id: z.string().nullable(),
    approval_id: z.string().nullable(),
  })).describe("Oldest first"),
  causes: z.array(z.object({
    at: Timestamp,
    run: z.number().int().describe("From 1; 0: its observations are not on record"),
    round: z.number().int(),
    symptom: z.string(),
    cause: z.string().nullable().describe("null: none was named"),
    says: z.string().nullable(),
    confidence: z.number().nullable(),
    observations: Numbers,
    alternatives: z.array(z.object({
      cause: z.string(),
      observations: Numbers,
      because: z.string(),
      ruled_out: z.boolean(),
    })),
  })).describe("Diagnoses, oldest first"),
  observations: z.array(Observation.extend({ run: z.number().int().min(1) })).describe(
    "Numbered from 1 in each run, as diagnoses name them",
  ),
  dependants: z.array(z.string()).nullable().describe(
    "Services that need the one of the incident; null: the service graph does not have that one",
  ),
  approvals: z.array(z.object({ approval_id: z.string(), status: z.string() })),
  repairs: z.array(RepairRecord).describe("Oldest first"),
  done: composedText.describe("Markdown: who allowed what was done, and what it did"),
}).meta({ id: "IncidentStory" });

/** One, in examples. */
export const exampleStory: z.output<typeof Story> = {
  ticket_id: exampleTicket.ticket_id,
  events: [{
    at: "2026-07-01T12:00:00.000Z",
    kind: "opened",
    phase: "ticketed",
    says: "The ticket was opened.",
    receipt_id: "9f2c4b7a01d3e856",
    approval_id: null,
  }],
  causes: [],
  observations: [],
  dependants: [],
  approvals: [],
  repairs: [],
  done: "The platform tried no repair.",
};

/** The story of an incident. */
export const ticketStory = operation({
  name: "tickets.story",
  group: "console",
  extension: true,
  summary:
    "Tell what happened in an incident: events in sentences, causes with what speaks for them",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: TicketId }),
  output: Story,
  rest: { ticket_story: "GET /v1/itsm/tickets/{ticket_id}/story" },
  presentation: { untrusted: true, errors: ["NotFound"] },
  example: {
    input: { ticket_id: exampleTicket.ticket_id },
    output: exampleStory,
  },
  async run({ ticket_id }, { store, urls }) {
    const ticket = await requireTicket(store, ticket_id);
    return { ticket_id, ...tellStory(await readFacts(store, ticket, urls.ledger)) };
  },
});
