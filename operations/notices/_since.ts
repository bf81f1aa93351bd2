import { z } from "zod";
import { InvalidInput } from "../../contract/mod.ts";
import type { Db } from "../../store/mod.ts";
import { getMessage } from "../../store/notices/mod.ts";
import { DateTime } from "../schemas/mod.ts";

const MessageId = z.string().regex(/^MSG-[0-9a-f]{12}$/);

/** Where somebody goes on to read the feed: a message's id, or a time. */
export const Since = z.string().max(64).refine(
  (text) => MessageId.safeParse(text).success || DateTime.safeParse(text).success,
  { error: "Expected a message's id, as MSG-5b1e09c77a42, or a time, as 2026-07-01T12:00:00Z" },
).describe(
  "Only messages after this one, by its id, or written at this time or later, in ISO 8601 with offset",
);

/** Messages after a position, or from a time on. */
export interface SincePlace {
  readonly after?: number;
  readonly from?: Date;
}

/** Finds the place that is meant. @throws {InvalidInput} the tenant has no such message */
export async function findSince(db: Db, since: string | undefined): Promise<SincePlace> {
  if (since === undefined) return {};
  if (!since.startsWith("MSG-")) return { from: new Date(since) };
  const message = await getMessage(db, since);
  if (message) return { after: message.position };
  const msg = `There is no message ${since}; take the id of one that is there, or a time`;
  throw new InvalidInput([{ path: ["since"], msg, type: "value_error" }]);
}
