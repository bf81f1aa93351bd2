/** The third rail: what the action and its incident say, held against the service graph, the probes and the ticket. */
import type { Surroundings } from "./_surroundings.ts";
import type { Finding, Objection, ValidateRequest } from "./types.ts";

const DOWN =
  /(?<![\p{L}])(?:is|are|was|went|goes|seems|appears)?\s?(?:down|unreachable|not responding|does not (?:answer|respond)|unresponsive|offline|dead|crashed|out of service|ausgefallen|nicht erreichbar|hors service|caído|çöktü)(?![\p{L}])/iu;
/** A probe older than this proves nothing about now. */
const FRESH_SECONDS = 30;

/** Holds what is said against what is known. What the graph doesn't know can't be held against it, and is told so. */
export function outputFactCheck(request: ValidateRequest, known: Surroundings): Finding {
  const objections: Objection[] = [];
  const notes: string[] = [];
  const ask = (code: string, reason: string, remedy: string) =>
    objections.push({ weight: "ask", code, reason, remedy });
  const said = typeof request.action?.target === "string" ? request.action.target.trim() : "";
  if (known.target) {
    notes.push(
      `The service graph knows the target ${known.target.name}, last seen ${known.target.status}`,
    );
    subject(request, known, known.target.name, ask);
    probed(request, known, ask);
  } else if (said !== "") {
    if (known.policy.bounds.require_known_target) {
      ask(
        "unknown_target",
        "The service graph does not know the target",
        "Name a service of the graph, or add it there first.",
      );
    } else {notes.push(
        "The service graph does not know the target: what is said of it can't be checked",
      );}
  }
  ticketed(request, known, ask);
  numbers(request, ask);
  return { objections, notes };
}

type Ask = (code: string, reason: string, remedy: string) => unknown;

/** An incident that names services of the graph must be about the target, or about one that it needs or that needs it. */
function subject(
  { incident, action }: ValidateRequest,
  known: Surroundings,
  target: string,
  ask: Ask,
): void {
  const named = known.named.filter(({ name }) => mentions(incident, name));
  const near = new Set([target, ...known.needs, ...(known.dependents ?? [])]);
  const about = mentions(incident, target) || named.length === 0 ||
    named.some(({ name }) => near.has(name));
  if (!about) {
    ask(
      "other_service",
      `The incident is about ${
        named[0]!.name
      }, and the action is on ${target}, which has nothing to do with it in the service graph`,
      `Act on ${named[0]!.name}, or say in the incident what ${target} has to do with it.`,
    );
  }
  const command = typeof action?.command === "string" ? action.command : "";
  const others = known.named.filter(({ name }) => mentions(command, name) && !near.has(name));
  if (others.length > 0 && !mentions(command, target)) {
    ask(
      "other_service",
      `The command is on ${others[0]!.name}, and the target is ${target}`,
      "Let the command and the target name the same service.",
    );
  }
}

function mentions(text: string, name: string): boolean {
  const at = text.toLowerCase().indexOf(name.toLowerCase());
  return at >= 0 && !/[\p{L}\p{N}]/u.test(text[at - 1] ?? " ") &&
    !/[\p{L}\p{N}]/u.test(text[at + name.length] ?? " ");
}

/** What the last probe saw, told by the caller or stored. */
function probed({ incident, context }: ValidateRequest, { target }: Surroundings, ask: Ask): void {
  const healthy = context?.observed?.healthy;
  if (healthy === true) {
    ask(
      "seen_healthy",
      `The last probe saw ${target!.name} in order`,
      "Probe again, and repair only what is still at fault.",
    );
  }
  const fresh = target!.checkedAgo !== null && target!.checkedAgo <= FRESH_SECONDS;
  if (
    healthy !== false && fresh && target!.status === "up" && DOWN.test(incident) &&
    mentions(incident, target!.name)
  ) {
    ask(
      "contradicted",
      `The incident says that ${target!.name} is down, and the last probe saw it up`,
      "Probe again, and say what is really at fault.",
    );
  }
}

function ticketed(
  { context }: ValidateRequest,
  { ticket, target, needs, dependents }: Surroundings,
  ask: Ask,
): void {
  if (context?.ticket_id === undefined) return;
  if (!ticket) {
    return void ask(
      "no_ticket",
      "There is no ticket by the id that is given",
      "Give the id of the incident's ticket.",
    );
  }
  if (ticket.status !== "open") {
    ask(
      "ticket_resolved",
      `Ticket ${ticket.id} is resolved already`,
      "Open a ticket for what is at fault now.",
    );
  }
  if (
    target && ticket.service !== null && ticket.service !== target.name &&
    !needs.includes(ticket.service) && !(dependents ?? []).includes(ticket.service)
  ) {
    ask(
      "other_service",
      `Ticket ${ticket.id} is about ${ticket.service}, and the action is on ${target.name}`,
      `Act on ${ticket.service}, or on what it needs.`,
    );
  }
}

/** Numbers that the description and the command both give must be the same. */
function numbers({ action }: ValidateRequest, ask: Ask): void {
  if (typeof action?.description !== "string" || typeof action.command !== "string") return;
  const told =
    /\b(?:to|on|auf|à|a)\s(\d{1,4})\s(?:replicas?|pods?|instances?|workers?|tasks?)\b|\breplicas?\s?(?:=|to)\s?(\d{1,4})\b/i
      .exec(action.description.slice(0, 2_000));
  const done = /(?:--replicas|--desired-count|--desired-capacity|replicas"?)\s?[= :]\s?(\d{1,4})\b/
    .exec(action.command.slice(0, 4_000))?.[1];
  const said = told?.[1] ?? told?.[2];
  if (said !== undefined && done !== undefined && Number(said) !== Number(done)) {
    ask(
      "numbers_differ",
      `The description says ${Number(said)} and the command ${Number(done)}`,
      "Let the description and the command say the same number.",
    );
  }
}
