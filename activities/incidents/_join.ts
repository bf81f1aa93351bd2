import { say, type Text } from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import type { StepOutcome } from "../../judgement/runbooks/mod.ts";
import { addTicketEvent, listTickets } from "../../store/incidents/mod.ts";
import type { Store } from "../../store/mod.ts";

/** A ticket whose cause is with another service. */
interface Join {
  readonly ticket_id: string;
  readonly service: Service;
  /** Name of the other service. */
  readonly name: string;
}

/**
 * Notes in a ticket and in the open ticket of the service that it depends on that they belong together. Safe to repeat.
 * Nothing is done to either service.
 */
export async function joinTickets(
  { db }: Store,
  { ticket_id, service, name }: Join,
  effectId: string,
): Promise<StepOutcome> {
  const open = await listTickets(db, { status: "open", service: name, limit: 1 });
  const other = open.find((one) => one.ticket_id !== ticket_id);
  const note = (ticket: string, message: Text) =>
    addTicketEvent(db, ticket, { key: `join-${effectId}`, kind: "notified", data: { message } });
  await note(
    ticket_id,
    say`${service.name} fails with ${name}, which it needs; ${
      other ? say`${other.ticket_id} is about that` : say`no ticket is open about that`
    }. Nothing is done here.`,
  );
  if (!other) return { state: "done", ok: true, code: "no_ticket_to_join" };
  await note(
    other.ticket_id,
    say`${service.name} fails with ${name} (${ticket_id}), and waits for it.`,
  );
  return { state: "done", ok: true, code: "joined" };
}
