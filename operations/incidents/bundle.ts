import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { locateSecrets } from "../../judgement/guard/mod.ts";
import { listApprovalMoves } from "../../store/approvals/mod.ts";
import { listTicketEvents } from "../../store/incidents/mod.ts";
import { exampleTicket, Ticket, TicketEvent, TicketId, Timestamp } from "../schemas/mod.ts";
import { exampleProofs, Proofs, readProofs } from "./proofs.ts";
import { exampleStory, Story } from "./story.ts";
import { formatPostmortem, readFacts, requireTicket, tellStory } from "./tickets/mod.ts";

const ABOUT =
  "What the platform has on record about one incident. `receipts` proves itself: each record with its neighbours, the keys, and " +
  "hashes up to a signed checkpoint; the reference verifier and the console's page check it. The rest is what the platform says, " +
  "with secrets masked. Contents behind the commitments of a receipt are opened by the operator, by npm run evidence.";

/** One file about an incident, to keep or to hand over. */
export const ticketBundle = operation({
  name: "tickets.bundle",
  group: "console",
  extension: true,
  summary: "Get all that is on record about an incident as one file, receipts with their proofs",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: TicketId }),
  output: z.object({
    about: z.string().describe("What this file is, and what of it can be checked how"),
    written_at: Timestamp,
    ticket: Ticket,
    story: Story.extend({
      approvals: z.array(
        z.object({
          approval_id: z.string(),
          status: z.string(),
          moves: z.array(z.record(z.string(), z.unknown())),
        }),
      ),
    }),
    timeline: z.array(TicketEvent),
    postmortem: z.string().describe("Markdown"),
    receipts: Proofs,
  }),
  rest: { ticket_bundle: "GET /v1/itsm/tickets/{ticket_id}/bundle" },
  presentation: { untrusted: true, errors: ["NotFound"] },
  example: {
    input: { ticket_id: exampleTicket.ticket_id },
    output: {
      about: ABOUT,
      written_at: "2026-07-01T12:00:00.000Z",
      ticket: exampleTicket,
      story: { ...exampleStory, approvals: [] },
      timeline: [],
      postmortem: "# INC-4f1d22a90b7c: billing fails its http check (refused)\n",
      receipts: exampleProofs,
    },
  },
  async run({ ticket_id }, { store, urls }) {
    const ticket = await requireTicket(store, ticket_id);
    const [facts, timeline, receipts] = await Promise.all([
      readFacts(store, ticket, urls.ledger),
      listTicketEvents(store.db, ticket_id),
      readProofs(store, ticket, urls.ledger),
    ]);
    const story = tellStory(facts);
    const approvals = await Promise.all(
      story.approvals.map(async (one) => ({
        ...one,
        moves: (await listApprovalMoves(store.db, one.approval_id)).map((move) => ({ ...move })),
      })),
    );
    const told = maskSecrets({
      ticket,
      story: { ticket_id, ...story, approvals },
      timeline,
      postmortem: formatPostmortem(facts).text,
    });
    return { about: ABOUT, written_at: new Date().toISOString(), ...told, receipts };
  },
});

/** Returns a copy whose texts have `[secret]` where they carry one. */
function maskSecrets<T>(value: T): T {
  if (typeof value === "string") return maskText(value) as T;
  if (Array.isArray(value)) return value.map(maskSecrets) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, maskSecrets(inner)]),
  ) as T;
}

function maskText(text: string): string {
  const spans = locateSecrets(text).sort((a, b) => a.start - b.start);
  let [masked, at] = ["", 0];
  for (const { start, end } of spans) {
    if (end <= at) continue;
    if (start >= at) masked += `${text.slice(at, start)}[secret]`;
    at = end;
  }
  return masked + text.slice(at);
}
