import type { Intake, Lookup, Plan } from "../../contract/domain/mod.ts";

/** Returns the lookups for what a prompt names; none for an unclear one. */
export function planFor(intake: Intake, kind: Plan["kind"]): Plan {
  return { kind, lookups: kind === "unclear" ? [] : lookupsFor(intake, kind) };
}

function lookupsFor(
  { services, tickets, receipts, topics, beyond }: Intake,
  kind: Plan["kind"],
): Lookup[] {
  // The health of what it names is no answer to that.
  if (beyond !== undefined) return [lookup("beyond", beyond)];
  const asks = new Set(topics);
  const namesAny = services.length + tickets.length + receipts.length > 0;
  const lookups = [
    ...receipts.map((id) => lookup("receipt", id)),
    ...tickets.map((id) => lookup("ticket", id)),
    ...services.flatMap((name) => [
      lookup("service", name),
      lookup("topology", name),
      lookup("tickets_of_service", name),
      ...(asks.has("repairs") ? [lookup("repairs", name)] : []),
    ]),
  ];
  if (asks.has("status") || asks.has("figures")) lookups.push(lookup("platform"));
  if (asks.has("ledger") && receipts.length === 0) lookups.push(lookup("ledger"));
  if (asks.has("approvals")) lookups.push(lookup("approvals"));
  if (asks.has("services") && services.length === 0) lookups.push(lookup("services"));
  if (asks.has("repairs") && services.length === 0) lookups.push(lookup("repairs"));
  if ((asks.has("incidents") || kind === "incident") && !namesAny) {
    lookups.push(lookup("open_tickets"));
  }
  return lookups;
}

function lookup(tool: string, of?: string): Lookup {
  return { tool, arguments: of ? { of } : {} };
}
