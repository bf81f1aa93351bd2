import { z } from "zod";
import { escapeInvisible, Problem } from "../../contract/mod.ts";
import { LEARNING_BOUNDS, lessonReceiptId } from "../../engine/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import {
  applyLearningItem,
  type Db,
  getLearningItem,
  getLearningMetrics,
  type LearningRecord,
  listQueuedLearningItems,
  noteCallEffects,
  storeIncidents,
} from "../../store/mod.ts";
import { FULL } from "../_audience.ts";
import { Limit, Timestamp } from "../_shapes.ts";
import { recoverNoted } from "../../calls/recover/mod.ts";
import { operation } from "../../calls/mod.ts";

const { queued, applied } = LEARNING_BOUNDS;
const HOW =
  `An arbiter scores what each resolved incident teaches, 0 to 100: below ${queued} it is dropped, from ` +
  `${queued} to ${applied} people decide, above ${applied} it is applied at once. What is applied joins the ` +
  "knowledge base, and is sealed as a learning_receipt that names the receipt it was learnt from.";

const Item = z.object({
  item_id: z.string(),
  ticket_id: z.string(),
  title: z.string(),
  category: z.string(),
  score: z.number().int().min(0).max(100),
  tier: z.literal(2),
  factors: z.array(z.object({ factor: z.string(), points: z.number() }))
    .describe("What the score is made of"),
  text: z.string().describe("What the knowledge base would get"),
  learned_from: z.array(z.string()).describe("Receipt of the ticket, where it has one"),
  made_at: Timestamp,
});
const example: z.output<typeof Item> = {
  item_id: "LRN-4f1d22a90b7c",
  ticket_id: "INC-9b0e55aa1c02",
  title: "Label printer of the warehouse prints blank labels",
  category: "hardware",
  score: 60,
  tier: 2,
  factors: [
    { factor: "closed_by_a_person", points: 25 },
    { factor: "receipt", points: 10 },
    { factor: "note_says_much", points: 15 },
    { factor: "diagnosed", points: 10 },
  ],
  text: "Label printer of the warehouse prints blank labels\nResolution: Turned the ribbon …",
  learned_from: ["9f2c4b7a01d3e856"],
  made_at: "2026-07-01T12:00:00.000Z",
};

/** What waits for people. */
export const queue = operation({
  name: "learning.queue",
  group: "learning",
  summary: "List what was learnt from incidents and waits for people (score 50 to 85), best first",
  description: HOW,
  effect: "read",
  access: "key",
  input: z.object({ limit: Limit }),
  output: z.object({ items: z.array(Item), count: z.number().int() }),
  rest: { learning_queue: "GET /v1/learning/queue" },
  tool: { get_learning_queue: FULL },
  untrusted: true,
  example: { input: { limit: 20 }, output: { items: [example], count: 1 } },
  run: async ({ limit }, { store }) => {
    const items = (await listQueuedLearningItems(store.asPlatform(), limit)).map(shown);
    return { items, count: items.length };
  },
});

function shown(item: LearningRecord): z.output<typeof Item> {
  const { id, ticket_id, title, category, score, factors, passage, learned_from, made_at } = item;
  return {
    ...{ item_id: id, ticket_id, title, category, score, tier: 2 },
    factors: [...factors],
    text: passage.content,
    learned_from: learned_from === null ? [] : [learned_from],
    made_at,
  };
}

/** Applies what waits. */
export const approveItem = operation({
  name: "learning.approve",
  group: "learning",
  summary: "Apply an item of the learning queue: the past incident joins the knowledge base",
  description: HOW,
  effect: "run",
  hints: { destructive: false },
  access: "partner",
  sealsItself: true,
  input: z.object({
    item_id: z.string().regex(/^LRN-[0-9a-f]{12}$/, "Expected an item_id of get_learning_queue"),
  }),
  output: z.object({
    item_id: z.string(),
    state: z.literal("applied"),
    knowledge_id: z.string().describe("By which the passage is cited from now on"),
    receipt_id: z.string().describe("Of the learning_receipt"),
    learned_from: z.array(z.string()),
  }),
  tool: { approve_learning_item: FULL },
  errors: ["NotFound", "Conflict"],
  example: {
    input: { item_id: "LRN-4f1d22a90b7c" },
    output: {
      item_id: "LRN-4f1d22a90b7c",
      state: "applied",
      knowledge_id: "INC-9b0e55aa1c02",
      receipt_id: "60dcf44792c84378",
      learned_from: ["9f2c4b7a01d3e856"],
    },
  },
  resolveStableInput: async ({ item_id }, { store }) => {
    const item = await waiting(store.asPlatform(), item_id); // nobody is asked about what can't be approved
    return { input: { item_id }, about: lessonOf(item) };
  },
  recover: (call, platform) => recoverNoted(platform, call, ({ output }) => output),
  run: async ({ item_id }, { store, caller, decisionId }) => {
    const item = await waiting(store.asPlatform(), item_id);
    const { ticket_id, passage, score, category, learned_from } = item;
    const receipt_id = lessonReceiptId(ticket_id);
    const given = {
      ...{ item_id, state: "applied" as const, knowledge_id: passage.id, receipt_id },
      learned_from: learned_from === null ? [] : [learned_from],
    };
    await store.asPlatform().transaction(async (trx) => {
      await storeIncidents(trx, [passage]);
      const by = { principal: caller.principal, receiptId: receipt_id };
      if (!await applyLearningItem(trx, item_id, by)) throw decided(item_id, "applied");
      await requestSeal(trx, {
        id: receipt_id,
        category: "learning_receipt",
        actor: `key:${caller.keyId}`,
        subject: ticket_id,
        action: "knowledge.approve",
        outcome: "learnt",
        details: { category, score, item_id },
        ...(learned_from === null ? {} : { learned_from: [learned_from] }),
        evidence: {
          passage: { id: passage.id, sha256: passage.sha256 },
          principal: caller.principal,
        },
      });
      await noteCallEffects(trx, decisionId, { item_id, receipt_id }, given);
    });
    return given;
  },
});

/** What people who are asked have to know: the very text that diagnoses would cite, and what its score is made of. */
function lessonOf({ title, score, factors, passage }: LearningRecord): string {
  const points = factors.map(({ factor, points }) => `${factor} ${points}`).join(", ");
  return escapeInvisible(`${title}\n\n${passage.content}\n\nIt scored ${score} (${points})`);
}

/** An item that waits for people. @throws {Problem} `NotFound`, `Conflict` */
async function waiting(on: Db, id: string): Promise<LearningRecord> {
  const item = await getLearningItem(on, id);
  if (!item) throw new Problem("NotFound", `There is no learning item ${id}`);
  if (item.state !== "queued") throw decided(id, item.state);
  return item;
}

const decided = (id: string, state: string) =>
  new Problem("Conflict", `Item ${id} is ${state}, and only a queued one can be approved`);

const Mended = z.object({
  tickets: z.number().int(),
  mended: z.number().int(),
  share: z.number().min(0).max(1).nullable(),
});

/** How learning goes. */
export const metrics = operation({
  name: "learning.metrics",
  group: "learning",
  summary: "Tell how learning goes over the last year, and what got better by it",
  description:
    `${HOW} \`recurring\` compares how long faults took before and after something was learnt of ` +
    "them; `with_past_incident` tells how many tickets were mended whose diagnosis cited a past incident.",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    items: z.object({
      dropped: z.number().int(),
      queued: z.number().int(),
      applied: z.number().int(),
    }),
    applied_by_people: z.number().int(),
    mean_score: z.number().nullable(),
    oldest_waiting_at: Timestamp.nullable(),
    past_incidents: z.number().int().describe("In the knowledge base"),
    recurring: z.object({
      faults: z.number().int(),
      median_seconds_before: z.number().nullable(),
      median_seconds_after: z.number().nullable(),
    }),
    with_past_incident: Mended,
    without_past_incident: Mended,
    by_week: z.array(z.object({
      week: z.string().describe("Its Monday"),
      made: z.number().int(),
      applied: z.number().int(),
    })),
    bounds: z.object({ queued_from: z.number(), applied_above: z.number() }),
  }),
  rest: { learning_metrics: "GET /v1/learning/metrics" },
  tool: { get_learning_metrics: FULL },
  example: {
    input: {},
    output: {
      items: { dropped: 2, queued: 3, applied: 11 },
      applied_by_people: 4,
      mean_score: 74.5,
      oldest_waiting_at: "2026-07-01T12:00:00.000Z",
      past_incidents: 9,
      recurring: { faults: 2, median_seconds_before: 340, median_seconds_after: 21.5 },
      with_past_incident: { tickets: 5, mended: 5, share: 1 },
      without_past_incident: { tickets: 20, mended: 14, share: 0.7 },
      by_week: [{ week: "2026-06-29", made: 16, applied: 11 }],
      bounds: { queued_from: queued, applied_above: applied },
    },
  },
  run: async (_, { store }) => {
    const { with_past_incident, without, by_week, ...rest } = await getLearningMetrics(
      store.asPlatform(),
    );
    return {
      ...rest,
      by_week: [...by_week],
      with_past_incident: withShare(with_past_incident),
      without_past_incident: withShare(without),
      bounds: { queued_from: queued, applied_above: applied },
    };
  },
});

function withShare({ tickets, mended }: { readonly tickets: number; readonly mended: number }) {
  return {
    tickets,
    mended,
    share: tickets === 0 ? null : Math.round(100 * mended / tickets) / 100,
  };
}
