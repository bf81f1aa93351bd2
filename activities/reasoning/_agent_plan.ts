import type { AgentName, Intake, Lookup, Plan } from "../../contract/domain/mod.ts";
import type { Db } from "../../store/mod.ts";
import { getTicket } from "../../store/incidents/mod.ts";
import { findServices, listServiceNames } from "../../store/cmdb/mod.ts";
import { readPromptWords } from "./_prompt.ts";

/** Most services that an agent examines for one question. */
const MAX_SERVICES = 8;

/**
 * Returns what an agent of the crew examines for a prompt: the services that it names, or that its tickets are on. A prompt
 * about the platform as a whole names none; then it examines all, as far as they are not too many, those that are down
 * first.
 */
export async function planForAgent(db: Db, agent: AgentName, intake: Intake): Promise<Plan> {
  const { kind, services, tickets, receipts } = intake;
  if (kind === "unclear") return { kind, lookups: [] };
  if (intake.beyond !== undefined) return { kind, lookups: [lookup("beyond", intake.beyond)] };
  const owners = await Promise.all(tickets.map((id) => servicesOfTicket(db, id)));
  const named = new Set([...services, ...owners.flat()]);
  const namesAny = services.length + tickets.length + receipts.length > 0;
  const examined = namesAny ? [...named] : await listServices(db);
  return {
    kind: "question",
    lookups: [
      ...receipts.map((id) => lookup("receipt", id)),
      ...tickets.map((id) => lookup("ticket", id)),
      ...(namesAny ? [] : [lookup("services")]),
      ...examined.slice(0, MAX_SERVICES).map((name) => lookup(agent, name)),
    ],
  };
}

/** Returns the service of a ticket, or those that its text names. */
async function servicesOfTicket(db: Db, id: string): Promise<string[]> {
  const ticket = await getTicket(db, id);
  if (!ticket) return [];
  if (ticket.service) return [ticket.service];
  const text = `${ticket.title}\n${ticket.description}`;
  return [...readPromptWords(text, await listServiceNames(db)).services];
}

async function listServices(db: Db): Promise<string[]> {
  const [down, all] = await Promise.all(
    ["down", undefined].map((status) =>
      findServices(db, { status, hosts: false, limit: MAX_SERVICES })
    ),
  );
  const names = [...down!.services, ...all!.services].map(({ name }) => name);
  return [...new Set(names)];
}

function lookup(tool: string, of?: string): Lookup {
  return { tool, arguments: of ? { of } : {} };
}
