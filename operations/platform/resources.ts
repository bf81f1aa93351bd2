import { z } from "zod";
import { listReceipts } from "../../ledger/mod.ts";
import { listTickets } from "../../store/mod.ts";
import { FULL_AND_AUDIT } from "../_audience.ts";
import { operation } from "../../calls/mod.ts";

const NEWEST_TICKETS = 50;
const NEWEST_RECEIPTS = 20;
const JSON_TYPE = "application/json";

/** What a client may offer people to pick. */
export const resourceIndex = operation({
  name: "resources.list",
  group: "platform",
  summary: "List the newest incidents, tickets and receipts, as resources",
  description: "Older ones are read by their ids as well.",
  effect: "read",
  access: "key",
  untrusted: true,
  input: z.object({}),
  output: z.object({
    resources: z.array(z.object({
      uri: z.string(),
      name: z.string(),
      title: z.string(),
      mimeType: z.literal(JSON_TYPE),
    })),
  }),
  resource: { "sealoop://resources": FULL_AND_AUDIT },
  example: {
    input: {},
    output: {
      resources: [{
        uri: "sealoop://receipts/9f2c4b7a01d3e856",
        name: "9f2c4b7a01d3e856",
        title: "Receipt 41: self_heal",
        mimeType: JSON_TYPE,
      }],
    },
  },
  run: async (_, { store, caller }) => {
    const [tickets, receipts] = await Promise.all([
      caller.scope === "full" ? listTickets(store.asPlatform(), { limit: NEWEST_TICKETS }) : [],
      listReceipts(store, { limit: NEWEST_RECEIPTS }),
    ]);
    const of = (kind: string, name: string, title: string) => ({
      uri: `sealoop://${kind}/${encodeURIComponent(name)}`,
      name,
      title,
      mimeType: JSON_TYPE as typeof JSON_TYPE,
    });
    return {
      resources: [
        ...tickets.flatMap(({ ticket_id, title, status }) => [
          of("tickets", ticket_id, `Ticket (${status}): ${title}`),
          of("incidents", ticket_id, `What happened in ${ticket_id}`),
        ]),
        ...receipts.map(({ id, position, category }) =>
          of("receipts", id, `Receipt ${position}: ${category}`)
        ),
      ],
    };
  },
});
