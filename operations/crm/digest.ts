import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { escapeInvisible } from "../../contract/mod.ts";
import { type Pipeline, readPipelines } from "./records/mod.ts";
import {
  type DigestPart,
  getDigestFacts,
  listQuietDeals,
  type QuietDeal,
} from "../../store/crm/mod.ts";
import { DateTime, Timestamp } from "../schemas/mod.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Days after which a deal is stale whose stage is in the file no more. */
const DEFAULT_STALE_DAYS = 14;
const MAX_LISTED = 10;

const Count = z.number().int().min(0);

/** Returns what waits for people who work with contacts. */
export const crmDigest = operation({
  name: "crm.digest",
  group: "crm",
  summary: "Get what is new and what waits: contacts, stale deals, mails, replies, appointments",
  effect: "read",
  access: "key",
  input: z.object({
    since: DateTime.optional().describe("Contacts added from this time on; default: a day ago"),
  }),
  output: z.object({
    since: Timestamp,
    new_contacts: Count,
    stale_deals: Count.describe(
      "Open deals about which nothing was done for longer than their stage's stale_after_days",
    ),
    held_emails: Count.describe("Mails that wait for a person"),
    replies_waiting: Count.describe("Replies that nobody has answered"),
    appointments: Count.describe("With contacts, within the next 24 hours"),
    text: z.string().describe(`The same as text, with the first ${MAX_LISTED} of each`),
  }),
  rest: { crm_digest: "GET /api/crm/digest" },
  presentation: { untrusted: true, errors: ["NotConfigured"] },
  example: {
    input: { since: "2026-07-01T00:00:00Z" },
    output: {
      since: "2026-07-01T00:00:00.000Z",
      new_contacts: 1,
      stale_deals: 1,
      held_emails: 0,
      replies_waiting: 0,
      appointments: 0,
      text: "1 new contact:\n- Ada Lovelace (CON-5b1e09c77a42)\n" +
        "1 stale deal:\n- Engine for the observatory: 21 days in proposal (DEAL-9c77a425b1e0)",
    },
  },
  run: async ({ since }, { store, config }) => {
    const from = since === undefined ? new Date(Date.now() - DAY_MS) : new Date(since);
    const pipelines = readPipelines(config);
    const [facts, quiet] = await Promise.all([
      getDigestFacts(store.db, from),
      listQuietDeals(store.db),
    ]);
    const stale = staleDeals(quiet, pipelines);
    const texts = [
      textOf(facts.contacts, "new contact"),
      textOf(stale, "stale deal"),
      textOf(facts.heldEmails, "mail held for a person", "mails held for a person"),
      textOf(facts.replies, "reply that waits", "replies that wait"),
      textOf(facts.appointments, "appointment within a day", "appointments within a day"),
    ].filter((text) => text !== "");
    return {
      since: from.toISOString(),
      new_contacts: facts.contacts.count,
      stale_deals: stale.count,
      held_emails: facts.heldEmails.count,
      replies_waiting: facts.replies.count,
      appointments: facts.appointments.count,
      text: texts.join("\n") || "Nothing is new, and nothing waits.",
    };
  },
});

function staleDeals(deals: readonly QuietDeal[], pipelines: readonly Pipeline[]): DigestPart {
  const stale = deals.filter(({ pipeline, stage, days }) =>
    days > staleDays(pipelines, pipeline, stage)
  );
  return {
    count: stale.length,
    first: stale.slice(0, MAX_LISTED).map(({ deal_id, title, stage, days }) => ({
      id: deal_id,
      label: `${title}: ${Math.floor(days)} days in ${stage}`,
    })),
  };
}

function staleDays(pipelines: readonly Pipeline[], name: string, stage: string): number {
  const known = pipelines.find(({ pipeline }) => pipeline === name)?.stages
    .find((one) => one.stage === stage);
  return known && "stale_after_days" in known ? known.stale_after_days : DEFAULT_STALE_DAYS;
}

/** Returns a heading and a line an entry, or nothing. What people wrote stays on its line. */
function textOf({ count, first }: DigestPart, one: string, many = `${one}s`): string {
  if (count === 0) return "";
  const lines = first.map(({ id, label }) =>
    `- ${escapeInvisible(label.replace(/\s+/g, " "))} (${id})`
  );
  const more = count > first.length ? [`- and ${count - first.length} more`] : [];
  return [`${count} ${count === 1 ? one : many}:`, ...lines, ...more].join("\n");
}
