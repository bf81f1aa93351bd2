import { z } from "zod";
import { operation, unknownRecord } from "../../calls/mod.ts";
import { escapeInvisible, Problem } from "../../contract/mod.ts";
import { LEARNING_BOUNDS, lessonReceiptId } from "../../judgement/engine/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  applyLearningItem,
  getLearningItem,
  type LearningRecord,
  listQueuedLearningItems,
  storeIncidents,
} from "../../store/learning/mod.ts";
import { Limit, Timestamp } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

const { queued, applied } = LEARNING_BOUNDS;
const HOW_LEARNING_WORKS =
  `The platform scores the lesson of each resolved incident, 0 to 100: below ${queued} it is dropped, from ${queued} to ` +
  `${applied} people decide, above ${applied} it is applied at once. An applied lesson joins the knowledge base, and is ` +
  "sealed as a learning_receipt that names the receipt it was learned from.";

const ItemId = z.string()
  .regex(/^LRN-[0-9a-f]{12}$/, "Expected an item_id of get_learning_queue")
  .describe("Id of the item, such as LRN-4f1d22a90b7c");
const Item = z.object({
  item_id: ItemId,
  ticket_id: z.string(),
  title: z.string(),
  category: z.string(),
  score: z.number().int().min(0).max(100),
  tier: z.literal(2),
  factors: z.array(z.object({ factor: z.string(), points: z.number() }))
    .describe("The parts of the score"),
  text: z.string().describe("Text that would join the knowledge base"),
  learned_from: z.array(z.string()).describe("Receipt of the ticket; empty: it has none"),
  made_at: Timestamp,
});
const exampleItem: z.output<typeof Item> = {
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

/** Items that wait for people. */
export const learningQueue = operation({
  name: "learning.queue",
  group: "learning",
  summary: `List the lessons that wait for people (score ${queued} to ${applied}), best first`,
  description: HOW_LEARNING_WORKS,
  effect: "read",
  access: "key",
  input: z.object({ limit: Limit }),
  output: z.object({ items: z.array(Item), count: z.number().int() }),
  rest: { learning_queue: "GET /v1/learning/queue" },
  tool: { get_learning_queue: FULL },
  presentation: {
    tell: ({ items }) =>
      items.length === 0
        ? ["No lesson waits for people."]
        : items.map(({ item_id, score, title, ticket_id }: z.output<typeof Item>) =>
          `- ${item_id} (score ${score}): ${title}, from ${ticket_id}`
        ),
    toolText: {
      get_learning_queue:
        "Lessons of resolved incidents; an approved one joins the knowledge base.",
    },
    untrusted: true,
  },
  example: { input: { limit: 20 }, output: { items: [exampleItem], count: 1 } },
  run: async ({ limit }, { store }) => {
    const items = await listQueuedLearningItems(store.db, limit);
    return { items: items.map(toItem), count: items.length };
  },
});

/** Applies an item that waits for people. */
export const approveLesson = operation({
  name: "learning.approve",
  group: "learning",
  summary: "Apply an item of the learning queue: its incident joins the knowledge base",
  description: HOW_LEARNING_WORKS,
  effect: "run",
  access: "partner",
  input: z.object({ item_id: ItemId }),
  output: z.object({
    item_id: z.string(),
    state: z.literal("applied"),
    knowledge_id: z.string().describe("Id by which diagnoses cite the passage"),
    receipt_id: z.string().describe("Id of the learning_receipt"),
    learned_from: z.array(z.string()),
  }),
  tool: { approve_learning_item: FULL },
  presentation: {
    toolText: { approve_learning_item: "Takes an item_id of get_learning_queue." },
    hints: { destructive: false },
    errors: ["NotFound", "Conflict"],
  },
  governance: {
    rule: "acts-on-the-outside",
    resolveStableInput: async ({ item_id }, { store }) => {
      const item = await queuedItem(store.db, item_id);
      return { input: { item_id }, about: describeLesson(item) };
    },
  },
  durability: {
    sealsItself: true,
    commits: true,
  },
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
  run: async ({ item_id }, { store, caller, commit }) => {
    const item = await queuedItem(store.db, item_id);
    const { ticket_id, passage, score, category, learned_from } = item;
    const receipt_id = lessonReceiptId(ticket_id);
    const output = {
      item_id,
      state: "applied" as const,
      knowledge_id: passage.id,
      receipt_id,
      learned_from: learned_from === null ? [] : [learned_from],
    };
    return await commit(async (trx) => {
      await storeIncidents(trx, [passage]);
      const by = { principal: caller.principal, receiptId: receipt_id };
      if (!await applyLearningItem(trx, item_id, by)) throw notQueued(item_id, "applied");
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
      return output;
    });
  },
});

function toItem(item: LearningRecord): z.output<typeof Item> {
  return {
    item_id: item.id,
    ticket_id: item.ticket_id,
    title: item.title,
    category: item.category,
    score: item.score,
    tier: 2,
    factors: [...item.factors],
    text: item.passage.content,
    learned_from: item.learned_from === null ? [] : [item.learned_from],
    made_at: item.made_at,
  };
}

/** Describes a lesson to the people who decide: the very text that diagnoses would cite, and the parts of its score. */
function describeLesson({ title, score, factors, passage }: LearningRecord): string {
  const points = factors.map(({ factor, points }) => `${factor} ${points}`).join(", ");
  return escapeInvisible(`${title}\n\n${passage.content}\n\nIt scored ${score} (${points})`);
}

/** Returns an item that waits for people. @throws {Problem} `NotFound`, `Conflict` */
async function queuedItem(db: Db, id: string): Promise<LearningRecord> {
  const item = await getLearningItem(db, id);
  if (!item) throw await unknownRecord(db, "learning item", id);
  if (item.state !== "queued") throw notQueued(id, item.state);
  return item;
}

function notQueued(id: string, state: string): Problem {
  return new Problem("Conflict", `Cannot approve item ${id}: it is ${state}, and no longer queued`);
}
