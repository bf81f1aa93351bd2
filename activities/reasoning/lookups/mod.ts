/**
 * Lookups: the read-only tools of the reasoning pipeline. Each returns sentences about what it has read, and nothing else.
 *
 * ```ts
 * const { says, sources } = await LOOKUPS.service!({ store, db }, "pay-db");
 * ```
 *
 * @module
 */
import type { LookupTool } from "./_lookup.ts";

export { describeRepair } from "./_lookup.ts";
import { approvals, beyond, ledger, platform, receipt } from "./_platform.ts";
import { repairs, service, services, topology } from "./_services.ts";
import { openTickets, ticket, ticketsOfService } from "./_tickets.ts";

/** All lookups, by name. */
export const LOOKUPS: Readonly<Record<string, LookupTool>> = {
  service,
  topology,
  tickets_of_service: ticketsOfService,
  open_tickets: openTickets,
  ticket,
  receipt,
  ledger,
  platform,
  approvals,
  services,
  repairs,
  beyond,
};

/** A lookup as it is described to a model. */
export interface LookupChoice {
  readonly name: string;
  readonly about: string;
  /** True: it is about one service. */
  readonly of_service: boolean;
}

/** Lookups that a model may choose from, where a prompt names nothing that is known. */
export const LOOKUP_CHOICES: readonly LookupChoice[] = [
  { name: "service", about: "Whether it is healthy, and what was found on it", of_service: true },
  { name: "topology", about: "What needs it, and what it needs", of_service: true },
  { name: "tickets_of_service", about: "Tickets", of_service: true },
  { name: "repairs", about: "The newest repairs", of_service: false },
  { name: "open_tickets", about: "Open tickets, the gravest first", of_service: false },
  { name: "platform", about: "Health of all services, tickets, approvals", of_service: false },
  { name: "approvals", about: "Approvals that wait for people", of_service: false },
  { name: "services", about: "How many services are known, and how they are", of_service: false },
  { name: "ledger", about: "Number of receipts, and whether the chain holds", of_service: false },
];
