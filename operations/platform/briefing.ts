import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { getHead } from "../../ledger/mod.ts";
import { listApprovals } from "../../store/approvals/mod.ts";
import { DEVICE_STATUSES, type DeviceFigures, getDeviceFigures } from "../../store/devices/mod.ts";
import { getRepairHistory, listTickets } from "../../store/incidents/mod.ts";
import { getServiceGraph } from "../../store/cmdb/mod.ts";
import { getPlatformCounts } from "../../store/platform/mod.ts";
import { exampleTicket, tellTicket, Ticket, Timestamp } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

const DAY_MS = 86_400_000;
/** Tickets and approvals that are listed by name. */
const MAX_LISTED = 10;
/** Services whose dependencies are listed. */
const MAX_SERVICES = 100;

/** Facts for a person who begins a shift. */
export const briefing = operation({
  name: "platform.briefing",
  group: "platform",
  summary: "Get a briefing: open tickets, waiting approvals and the repairs of the last 24 hours",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    as_of: Timestamp,
    summary: z.string().describe("The same in sentences"),
    services: z.record(z.string(), z.number()).describe("Number of services by status"),
    needs: z.record(z.string(), z.array(z.string())).describe(
      `Service → services that it needs; the first ${MAX_SERVICES} that need any`,
    ),
    tickets: z.record(z.string(), z.number()),
    urgent: z.array(Ticket).describe(`Up to ${MAX_LISTED} open tickets, the most severe first`),
    waiting_for_people: z.array(z.object({
      approval_id: z.string(),
      subject: z.string(),
      asked_at: Timestamp,
    })).describe(`Up to ${MAX_LISTED} pending approvals`),
    repairs_within_a_day: z.object({
      by_state: z.record(z.string(), z.number()),
      success_rate: z.number().nullable().describe("Null: none has ended"),
    }),
    devices: z.object({
      by_status: z.record(z.enum(DEVICE_STATUSES), z.number().int()),
      heartbeat_age_seconds: z.object({ median: z.number(), oldest: z.number() }).nullable()
        .describe("Of devices that are not offline; null: there are none"),
      low_on_disk: z.number().int().describe("Devices with less than a tenth of a disk free"),
      commands_24h: z.record(z.string(), z.number().int()).describe(
        "Commands that were asked for within a day, by status",
      ),
    }),
    ledger: z.object({
      receipts: z.number().int(),
      chain_intact: z.boolean().nullable().describe("Null: not verified yet"),
    }),
  }),
  tool: { get_platform_briefing: FULL },
  presentation: {
    tell: tellBriefing,
    toolText: {
      get_platform_briefing:
        "Begin here: what is broken now, what waits for people, what was repaired, and what depends on what.",
    },
    untrusted: true,
  },
  example: {
    input: {},
    output: {
      as_of: "2026-07-01T12:00:00.000Z",
      summary:
        "1 ticket is open, 0 of them with people. 0 services are down. 0 approvals wait for " +
        "people. Repairs within a day: 3 done. 0 of 2 devices are offline. The ledger has 42 receipts.",
      services: { up: 4 },
      needs: { orders: ["orders-db"] },
      tickets: { open: 1, resolved: 7 },
      urgent: [exampleTicket],
      waiting_for_people: [],
      repairs_within_a_day: { by_state: { done: 3 }, success_rate: 1 },
      devices: {
        by_status: { online: 2, late: 0, offline: 0, quarantined: 0 },
        heartbeat_age_seconds: { median: 12, oldest: 24 },
        low_on_disk: 0,
        commands_24h: { done: 3 },
      },
      ledger: { receipts: 42, chain_intact: true },
    },
  },
  run: async (_, { store, chain }) => {
    const db = store.db;
    const since = new Date(Date.now() - DAY_MS);
    const [counts, urgent, approvals, repairs, devices, graph, { size }, { chain_intact }] =
      await Promise
        .all([
          getPlatformCounts(db),
          listTickets(db, { status: "open", limit: MAX_LISTED, bySeverity: true }),
          listApprovals(db, { status: "pending", limit: MAX_LISTED }),
          getRepairHistory(db, { since, limit: 1 }),
          getDeviceFigures(db),
          getServiceGraph(db),
          getHead(store),
          chain.look(),
        ]);
    const { tickets, services, pending_approvals } = counts;
    const { by_state, success_rate } = repairs;
    const states = Object.entries(by_state).map(([state, count]) => `${count} ${state}`);
    return {
      as_of: new Date().toISOString(),
      summary: [
        `${countOf(tickets.open ?? 0, "ticket")} open, ${tickets.escalated} of them with people.`,
        `${countOf(services.down ?? 0, "service")} down.`,
        pending_approvals === 1
          ? "1 approval waits for people."
          : `${pending_approvals} approvals wait for people.`,
        `Repairs within a day: ${states.join(", ") || "none"}.`,
        ...describeDevices(devices),
        `The ledger has ${size} receipts${
          chain_intact === false ? ", and its chain is broken" : ""
        }.`,
      ].join(" "),
      services,
      needs: needsOf(graph),
      tickets,
      urgent,
      waiting_for_people: approvals.map(({ id, subject, askedAt }) => ({
        approval_id: id,
        subject,
        asked_at: askedAt,
      })),
      repairs_within_a_day: { by_state, success_rate },
      devices,
      ledger: { receipts: size, chain_intact },
    };
  },
});

function countOf(count: number, noun: string): string {
  return count === 1 ? `1 ${noun} is` : `${count} ${noun}s are`;
}

/** Returns sentences about devices, where there are any. */
function describeDevices({ by_status, low_on_disk }: DeviceFigures): string[] {
  const total = DEVICE_STATUSES.reduce((sum, status) => sum + by_status[status], 0);
  if (total === 0) return [];
  const { offline, quarantined } = by_status;
  return [
    `${offline} of ${total} devices ${offline === 1 ? "is" : "are"} offline` +
    (quarantined > 0 ? `, ${quarantined} quarantined` : "") +
    (low_on_disk > 0 ? `, ${low_on_disk} low on disk` : "") + ".",
  ];
}

/** Returns the dependencies of the first services by name. */
function needsOf(
  { dependsOn }: { readonly dependsOn: ReadonlyMap<string, readonly string[]> },
): Record<string, string[]> {
  const entries = [...dependsOn].filter(([, needs]) => needs.length > 0).sort();
  return Object.fromEntries(
    entries.slice(0, MAX_SERVICES).map(([name, needs]) => [name, [...needs]]),
  );
}

function tellBriefing(
  { summary, urgent, waiting_for_people, needs, as_of }: {
    readonly summary: string;
    readonly urgent: readonly z.output<typeof Ticket>[];
    readonly waiting_for_people: readonly {
      readonly approval_id: string;
      readonly subject: string;
    }[];
    readonly needs: Readonly<Record<string, readonly string[]>>;
    readonly as_of: string;
  },
): string[] {
  return [
    `As of ${as_of}: ${summary}`,
    ...urgent.map((ticket) => `- ${tellTicket(ticket)}`),
    ...waiting_for_people.map(({ approval_id, subject }) => `- ${approval_id} waits: ${subject}`),
    ...Object.entries(needs).map(([service, others]) => `${service} needs ${others.join(", ")}.`),
  ];
}
