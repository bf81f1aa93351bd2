import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { listReceipts } from "../../ledger/mod.ts";
import { listTickets } from "../../store/incidents/mod.ts";
import { FULL_AND_AUDIT } from "../scopes.ts";

const MAX_TICKETS = 50;
const MAX_RECEIPTS = 20;
const MIME_TYPE = "application/json";

/** Resources that a client can offer to people. */
export const resourceList = operation({
  name: "resources.list",
  group: "platform",
  summary: "List the newest incidents, tickets and receipts as resources",
  description: "Older ones can be read by their ids.",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    resources: z.array(z.object({
      uri: z.string(),
      name: z.string(),
      title: z.string(),
      mimeType: z.literal(MIME_TYPE),
    })),
  }),
  presentation: { resource: { "sealoop://resources": FULL_AND_AUDIT }, untrusted: true },
  example: {
    input: {},
    output: { resources: [toResource("receipts", "9f2c4b7a01d3e856", "Receipt 41: self_heal")] },
  },
  run: async (_, { store, caller }) => {
    const [tickets, receipts] = await Promise.all([
      caller.scope === "full" ? listTickets(store.db, { limit: MAX_TICKETS }) : [],
      listReceipts(store, { limit: MAX_RECEIPTS }),
    ]);
    return {
      resources: [
        ...tickets.flatMap(({ ticket_id, title, status }) => [
          toResource("tickets", ticket_id, `Ticket (${status}): ${title}`),
          toResource("incidents", ticket_id, `Timeline of ${ticket_id}`),
        ]),
        ...receipts.map(({ id, position, category }) =>
          toResource("receipts", id, `Receipt ${position}: ${category}`)
        ),
      ],
    };
  },
});

function toResource(kind: "incidents" | "receipts" | "tickets", name: string, title: string) {
  const uri = `sealoop://${kind}/${encodeURIComponent(name)}`;
  return { uri, name, title, mimeType: MIME_TYPE } as const;
}
