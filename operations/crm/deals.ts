import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { ContactId, Deal, DealFields, DealId, exampleDeal } from "../../contract/records/mod.ts";
import { listDeals } from "../../store/crm/mod.ts";
import { FULL } from "../scopes.ts";
import { authorOf, requireContact } from "./_contacts.ts";
import { addNewDeal, changeDeal, checkStage, requireDeal } from "./_deals.ts";
import { ExpectedVersion, pageLimit, StageName } from "./_schemas.ts";

/** Deals, newest first. */
export const dealList = operation({
  name: "deals.list",
  group: "crm",
  summary: "List deals, newest first",
  effect: "read",
  access: "key",
  input: z.object({
    limit: pageLimit(500, 100),
    before: DealId.optional().describe("Only deals older than this one: the last of a page"),
  }),
  output: z.object({ total: z.number().int(), deals: z.array(Deal) }),
  rest: { deals_list: "GET /api/deals" },
  presentation: { untrusted: true },
  example: { input: { limit: 1 }, output: { total: 1, deals: [exampleDeal] } },
  run: async (page, { store }) => await listDeals(store.db, page),
});

/** Adds a deal with a contact. */
export const createDeal = operation({
  name: "deals.create",
  group: "crm",
  summary: "Add a deal with a contact",
  effect: "write",
  access: "key",
  input: z.object({
    ...DealFields.shape,
    amount_minor: DealFields.shape.amount_minor.default(0),
    contact_id: ContactId,
    pipeline: z.string().min(1).max(40).optional().describe("Default: the first pipeline"),
    stage: StageName.optional().describe("Default: the pipeline's first stage"),
  }),
  output: Deal,
  rest: { deals_create: "POST /api/deals" },
  presentation: {
    hints: { destructive: false },
    untrusted: true,
    errors: ["NotFound", "NotConfigured"],
  },
  governance: {
    rule: "key-decides",
    async check({ contact_id }, { store }) {
      await requireContact(store.db, contact_id);
    },
  },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: {
      title: "Engine for the observatory",
      contact_id: exampleDeal.contact_id,
      amount_minor: 1_250_000,
      currency: "EUR",
      expected_close: "2026-09-30",
    },
    output: { ...exampleDeal, stage: "lead", version: 1 },
  },
  run: async (fields, context) => {
    const { config } = context;
    return await context.commit(async (trx) => {
      const author = authorOf(context, "deals.create");
      const deal_id = await addNewDeal(trx, config, fields, author);
      return await requireDeal(trx, deal_id);
    });
  },
});

/** Changes a deal. */
export const updateDeal = operation({
  name: "deals.update",
  group: "crm",
  summary: "Change fields of a deal, or move it to another stage",
  description: "Fields that are left out stay. The status follows from the stage.",
  effect: "write",
  access: "key",
  input: z.object({
    deal_id: DealId,
    title: DealFields.shape.title.optional(),
    contact_id: ContactId.optional(),
    amount_minor: DealFields.shape.amount_minor.optional(),
    currency: DealFields.shape.currency.optional(),
    expected_close: DealFields.shape.expected_close,
    stage: StageName.optional(),
    version: ExpectedVersion,
  }),
  output: Deal,
  rest: { deals_update: "PATCH /api/deals/{deal_id}" },
  presentation: { untrusted: true, errors: ["NotFound", "Conflict", "NotConfigured"] },
  governance: {
    rule: "key-decides",
    async check({ deal_id }, { store }) {
      await requireDeal(store.db, deal_id);
    },
  },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: { deal_id: exampleDeal.deal_id, stage: "proposal", version: 2 },
    output: exampleDeal,
  },
  run: async ({ deal_id, ...changes }, context) => {
    const { config } = context;
    return await context.commit(async (trx) => {
      await changeDeal(trx, config, deal_id, changes, authorOf(context, "deals.update"));
      return await requireDeal(trx, deal_id);
    });
  },
});

/** Moves a deal through its pipeline. */
export const moveDeal = operation({
  name: "deals.move",
  group: "crm",
  summary: "Move a deal to another stage of its pipeline",
  effect: "write",
  access: "key",
  input: z.object({ deal_id: DealId, stage: StageName, version: ExpectedVersion }),
  output: Deal,
  tool: { crm_move_pipeline: FULL },
  presentation: {
    hints: { idempotent: true },
    untrusted: true,
    errors: ["NotFound", "Conflict", "NotConfigured"],
  },
  governance: {
    rule: "key-decides",
    async check({ deal_id, stage }, { store, config }) {
      checkStage(config, await requireDeal(store.db, deal_id), stage);
    },
  },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: { deal_id: exampleDeal.deal_id, stage: "proposal" },
    output: exampleDeal,
  },
  run: async ({ deal_id, ...move }, context) => {
    const { config } = context;
    return await context.commit(async (trx) => {
      await changeDeal(trx, config, deal_id, move, authorOf(context, "deals.move"));
      return await requireDeal(trx, deal_id);
    });
  },
});
