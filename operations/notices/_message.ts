import { z } from "zod";
import { CHANNELS, MESSAGE_KINDS, type MessageKind } from "../../contract/domain/mod.ts";
import type { Message as MessageRecord } from "../../store/notices/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

/** Kind of a message. */
export const Kind = z.enum(Object.keys(MESSAGE_KINDS) as [MessageKind, ...MessageKind[]]);

/** Channel of a message. */
export const Channel = z.enum(CHANNELS);

/** A message of the feed, as answers have it. */
export const Message = z.object({
  id: z.string().describe("MSG- and 12 hex characters"),
  at: Timestamp,
  channel: Channel.describe("Channel that it was written for; feed: the feed itself"),
  kind: Kind,
  from: z.string().describe("Principal, agent, or part of the platform that tells it"),
  subject: z.string(),
  text: z.string(),
  refs: z.record(z.string(), z.string()).describe(
    "Ids of what it is about: ticket_id, approval_id, receipt_id, …",
  ),
}).meta({ id: "Message" });

/** Converts a message for an answer. */
export function toMessage({ id, at, channel, kind, from, subject, text, refs }: MessageRecord) {
  return { id, at, channel, kind, from, subject, text, refs: refs as Record<string, string> };
}

/** A message in examples. */
export const exampleMessage = {
  id: "MSG-5b1e09c77a42",
  at: "2026-07-01T12:00:00.000Z",
  channel: "feed" as const,
  kind: "incident.opened" as const,
  from: "itsm-loop",
  subject: "INC-4f1d22a90b7c was opened (high)",
  text: "billing does not answer on port 8443",
  refs: { ticket_id: "INC-4f1d22a90b7c" },
};
