import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { DECISIONS } from "../../contract/domain/mod.ts";
import { countDecisions, searchDecisions } from "../../store/calls/mod.ts";
import { exampleDecision, GovernedCall, Limit, toGovernedCall } from "../schemas/mod.ts";

const DAY_MS = 86_400_000;
/** Keys, rules and tools that are counted, each the most frequent ones. */
const MAX_COUNTS = 50;

const DecisionId = z.string().regex(/^GOV-[0-9a-f]{12}$/, "Expected GOV- and 12 hex characters");
const Name = z.string().min(1).max(200).optional();

/** A page of the decisions that match. */
export const decisionSearch = operation({
  name: "governance.search",
  group: "console",
  extension: true,
  summary: "Search the decisions about your tenant's calls, a page at a time, newest first",
  effect: "read",
  access: "key",
  input: z.object({
    decision: z.enum(DECISIONS).optional().describe("Only decisions of this kind"),
    tool: Name.describe("Name that the caller used"),
    rule: Name.describe("Rule that decided"),
    key_id: Name.describe("Id of the key that called"),
    principal: Name.describe("Person or agent who holds the key"),
    older_than: DecisionId.optional().describe("The page after the one that ends with this one"),
    newer_than: DecisionId.optional().describe(
      "The page before the one that begins with this one; `older_than` does not count then",
    ),
    limit: Limit,
  }),
  output: z.object({
    decisions: z.array(GovernedCall),
    older: DecisionId.nullable().describe("`older_than` of the next page; null: this is the last"),
    newer: DecisionId.nullable().describe("`newer_than` of the page before; null: it is the first"),
  }),
  rest: { governance_search: "GET /v1/governance/decisions/search" },
  presentation: { untrusted: true },
  example: {
    input: { rule: "no-scripts-at-night" },
    output: { decisions: [exampleDecision], older: null, newer: null },
  },
  async run({ key_id, older_than: older, newer_than: newer, limit, ...filter }, { store }) {
    const place = newer ? { newerThan: newer } : older ? { olderThan: older } : {};
    const found = await searchDecisions(store.db, {
      ...filter,
      keyId: key_id,
      ...place,
      limit: limit + 1,
    });
    const hasMore = found.length > limit;
    const page = found.slice(0, limit);
    if (newer) page.reverse();
    return {
      decisions: page.map(toGovernedCall),
      older: (newer || hasMore) ? page.at(-1)?.id ?? null : null,
      newer: (newer ? hasMore : older !== undefined) ? page[0]?.id ?? null : null,
    };
  },
});

const Count = z.number().int();

/** How often calls were decided about, and how. */
export const decisionCounts = operation({
  name: "governance.counts",
  group: "console",
  extension: true,
  summary: "Count the decisions about your tenant's calls by key, by rule and by tool",
  effect: "read",
  access: "key",
  input: z.object({
    days: z.number().int().min(1).max(90).default(7).describe(
      "Days that are counted, back from now",
    ),
  }),
  output: z.object({
    counts: z.array(z.object({
      by: z.enum(["key", "rule", "tool"]),
      name: z.string().describe("Id of the key, or name of the rule or the tool"),
      principal: z.string().nullable().describe("Of a key: who holds it"),
      allow: Count,
      needs_approval: Count,
      deny: Count,
    })).describe(`Most first, up to ${MAX_COUNTS} keys, rules and tools`),
  }),
  rest: { governance_counts: "GET /v1/governance/decisions/counts" },
  presentation: { untrusted: true },
  example: {
    input: { days: 7 },
    output: {
      counts: [{
        by: "rule",
        name: "key-decides",
        principal: null,
        allow: 12,
        needs_approval: 0,
        deny: 0,
      }],
    },
  },
  run: async ({ days }, { store }) => ({
    counts: await countDecisions(store.db, new Date(Date.now() - days * DAY_MS), MAX_COUNTS),
  }),
});
