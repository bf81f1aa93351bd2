import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { listMessages } from "../../store/notices/mod.ts";
import { TicketId } from "../schemas/mod.ts";
import { Channel, exampleMessage, Kind, Message, toMessage } from "./_message.ts";
import { findSince, Since } from "./_since.ts";

/** Messages of the caller's tenant. */
export const messageList = operation({
  name: "comms.list",
  group: "people",
  summary: "List the messages of your organization's feed, newest first",
  description:
    "`cursor` of an answer, sent with the next request, gives the messages before these. `since`, with the id of the " +
    "newest message that you have, gives those that came later. New ones come over `GET /v1/comms/stream`.",
  effect: "read",
  access: "key",
  input: z.object({
    kind: Kind.optional().describe("Only messages of this kind"),
    channel: Channel.optional().describe("Only messages that were written for this channel"),
    ticket_id: TicketId.optional().describe("Only messages about this ticket"),
    cursor: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional().describe(
      "Only messages before this place, as an earlier answer has it",
    ),
    since: Since.optional(),
    limit: z.number().int().min(1).max(1000).default(100).describe("Maximum number of messages"),
  }),
  output: z.object({
    total: z.number().int().describe("All messages that fit, on whatever page"),
    messages: z.array(Message),
    cursor: z.number().int().nullable().describe("Place of the next page; null: this is the last"),
  }),
  rest: { comms_list: "GET /v1/comms" },
  presentation: { untrusted: true },
  example: {
    input: { kind: "incident.opened" },
    output: { total: 1, messages: [exampleMessage], cursor: null },
  },
  run: async ({ kind, channel, ticket_id, cursor, since, limit }, { store }) => {
    const place = await findSince(store.db, since);
    const filter = { kind, channel, ticketId: ticket_id, before: cursor, ...place };
    const { total, messages } = await listMessages(store.db, filter, limit + 1);
    const page = messages.slice(0, limit);
    return {
      total,
      messages: page.map(toMessage),
      cursor: messages.length > limit ? page.at(-1)!.position : null,
    };
  },
});
