import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { listActivities } from "../../store/crm/mod.ts";
import { Activity, ContactId, DealId, exampleDeal } from "../../contract/records/mod.ts";
import { pageLimit } from "./_schemas.ts";

/** Activities, newest first. */
export const activityList = operation({
  name: "activities.list",
  group: "crm",
  summary: "List what was done about contacts and deals, newest first",
  effect: "read",
  access: "key",
  input: z.object({
    contact_id: ContactId.optional().describe("Only activities about this contact"),
    deal_id: DealId.optional().describe("Only activities about this deal"),
    before: z.string().regex(/^ACT-[0-9a-f]{12}$/, "Expected ACT- and 12 hex characters").optional()
      .describe("Only activities older than this one: the last of a page"),
    limit: pageLimit(100, 50),
  }),
  output: z.object({ total: z.number().int(), activities: z.array(Activity) }),
  rest: { activities_list: "GET /api/activities" },
  presentation: { untrusted: true },
  example: {
    input: { deal_id: exampleDeal.deal_id },
    output: {
      total: 1,
      activities: [{
        activity_id: "ACT-25b1e09c77a4",
        kind: "deal.moved",
        contact_id: exampleDeal.contact_id,
        deal_id: exampleDeal.deal_id,
        actor: "key:5b1e09c77a4225b1",
        summary: "Moved from qualified to proposal",
        at: "2026-07-01T12:00:00.000Z",
        receipt_id: "4f1d22a90b7c4f1d",
      }],
    },
  },
  run: async (filter, { store }) => await listActivities(store.db, filter),
});
