import { z } from "zod";
import type { Store } from "../../store/mod.ts";
import { getPublicSize } from "../log/mod.ts";
import { listReceiptsBy, type StoredReceipt } from "../receipts/mod.ts";
import { computeStatus, readStoryReceipt, type StoryReceipt } from "../stories/mod.ts";
import { common, operation } from "./_operation.ts";

const Count = z.number().int();
const Status = z.object({
  service_id: z.string().describe("SVC-…; receipts name the service by it"),
  name: z.string().describe("As the operator has named it in public"),
  published: z.boolean().describe("False: the operator has made it private again"),
  observed_ms: Count.describe("Time in which it was looked at; of the rest nobody knows"),
  up_ms: Count.describe("The part of it in which it was up"),
  uptime: z.number().nullable().describe("`up_ms` / `observed_ms`; null: nothing was observed"),
  seen_at: z.string().nullable().describe("Until when it was observed, at the newest receipt"),
  days: z.array(z.object({ day: z.string(), observed_ms: Count, up_ms: Count })).describe(
    "Oldest first; a day in which nothing was observed is not among them",
  ),
  incidents: z.array(z.object({
    incident_id: z.string(),
    opened_at: z.string(),
    ended_at: z.string().nullable().describe("Null: it is open"),
    receipt_id: z.string().describe("Of its end, else of its beginning"),
  })).describe("Newest first"),
});
const DAY_MS = 86_400_000;
const PAGE = 500;
/** Receipts that are read of one service: one an hour, and those of its incidents. */
const MAX_RECEIPTS = 5_000;
const MAX_SERVICES = 100;

const status = operation({
  ...common,
  name: "public_ledger.status",
  summary: "Uptime and incidents of the services that the operator names in public",
  description:
    "Computed from public receipts alone, by rules that anybody can follow: docs/verify.md has them as twenty lines of " +
    "Python. What was not observed counts as neither up nor down.",
  input: z.object({
    days: z.number().int().min(1).max(90).default(30).describe("Days until today, UTC"),
  }),
  output: z.object({
    from: z.string().describe("First day"),
    to: z.string().describe("Last day"),
    services: z.array(Status).describe("By name"),
  }),
  rest: { ledger_status: "GET /api/status" },
  example: {
    input: { days: 1 },
    output: {
      from: "2026-07-01",
      to: "2026-07-01",
      services: [{
        service_id: "SVC-4f1d22a90b7c",
        name: "Shop",
        published: true,
        observed_ms: 3_600_000,
        up_ms: 3_540_000,
        uptime: 3_540_000 / 3_600_000,
        seen_at: "2026-07-01T12:00:00.000Z",
        days: [{ day: "2026-07-01", observed_ms: 3_600_000, up_ms: 3_540_000 }],
        incidents: [{
          incident_id: "INC-4f1d22a90b7c",
          opened_at: "2026-07-01T11:20:00.000000+00:00",
          ended_at: "2026-07-01T11:21:00.000000+00:00",
          receipt_id: "9f2c4b7a01d3e856",
        }],
      }],
    },
  },
  run: async ({ days }, { store }) => {
    const now = Date.now();
    const window = { from: dayOf(now - (days - 1) * DAY_MS), to: dayOf(now) };
    const size = await getPublicSize(store);
    const ids = await listPublicServices(store, size);
    const services = await Promise.all(ids.map((id) => readStatus(store, { id, size, ...window })));
    return {
      ...window,
      services: services.filter((one) => one !== undefined)
        .sort((a, b) => a.name < b.name ? -1 : 1)
        .map((one) => ({ ...one, days: [...one.days], incidents: [...one.incidents] })),
    };
  },
});

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const read = ({ text, position }: StoredReceipt) => readStoryReceipt(text, position);

/** Lists the ids of the services that were ever named in public. */
async function listPublicServices(store: Store, size: number): Promise<string[]> {
  const filter = { categories: ["service_published"] };
  const receipts = await listReceiptsBy(store, filter, { limit: 2 * MAX_SERVICES, before: size });
  return [...new Set(receipts.map((one) => read(one).subject))].slice(0, MAX_SERVICES);
}

async function readStatus(
  store: Store,
  { id, size, from, to }: Readonly<Record<"id" | "from" | "to", string>> & {
    readonly size: number;
  },
) {
  const filter = { categories: ["service_published"] };
  const named = await listReceiptsBy(store, filter, { limit: 200, before: size });
  const own = [...await readAbout(store, id, { size, from }), ...named.map(read)]
    .filter(({ details }) => details.service_id === id);
  const incidents = new Set(
    own.filter(({ category }) => category === "ticket_opened").map(({ subject }) => subject),
  );
  const ends = await Promise.all(
    [...incidents].map((name) => readAbout(store, name, { size, from })),
  );
  const all = new Map([...own, ...ends.flat()].map((one) => [one.position, one]));
  return computeStatus(id, [...all.values()].sort((a, b) => a.position - b.position), { from, to });
}

/** Reads the receipts that name an id, back to a day, of a chain of a given size. */
async function readAbout(
  store: Store,
  name: string,
  { size, from: day }: { readonly size: number; readonly from: string },
): Promise<StoryReceipt[]> {
  const found: StoryReceipt[] = [];
  for (let before = size; found.length < MAX_RECEIPTS;) {
    const page = (await listReceiptsBy(store, { name }, { limit: PAGE, before })).map(read);
    found.push(...page);
    const last = page.at(-1);
    if (page.length < PAGE || last!.timestamp.slice(0, 10) < day) break;
    before = last!.position;
  }
  return found;
}

/** The operation of the status page. */
export const statusOperations = [status] as const;
