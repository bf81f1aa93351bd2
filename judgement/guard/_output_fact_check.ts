/** The third rail: compares the action and its incident with the service graph, the probes and the ticket. */
import { judgeActionCommand, namesActedOn } from "./_command.ts";
import { contradictions } from "./_facts.ts";
import type { PlatformState } from "./_state.ts";
import type { Objection, RailResult, ValidateRequest } from "./types.ts";

const DOWN =
  /(?<![\p{L}])(?:is|are|was|went|goes|seems|appears)?\s?(?:down|unreachable|not responding|does not (?:answer|respond)|unresponsive|offline|dead|crashed|out of service|ausgefallen|nicht erreichbar|hors service|caído|çöktü)(?![\p{L}])/iu;
/** Age up to which a probe counts as current. */
const MAX_PROBE_AGE_SECONDS = 30;

/** Compares the claims of an action with the incident and with the platform's state. */
export function outputFactCheck(request: ValidateRequest, state: PlatformState): RailResult {
  const objections: Objection[] = [];
  const notes: string[] = [];
  const ask = (code: string, reason: string, remedy: string) =>
    objections.push({ weight: "ask", code, reason, remedy });
  if (state.target) {
    notes.push(
      `The service graph knows the target ${state.target.name}, last seen ${state.target.status}`,
    );
    checkSubject(request, state, state.target.name, ask);
    checkProbe(request, state, ask);
  }
  checkStrangers(request, state, ask, notes);
  checkWords(request, ask);
  checkTicket(request, state, ask);
  checkNumbers(request, ask);
  return { objections, notes };
}

/** Objects to acting on what the service graph does not know, unless the policy allows it. An empty graph knows nothing. */
function checkStrangers(
  { action = {} }: ValidateRequest,
  { strangers, policy, target }: PlatformState,
  ask: Ask,
  notes: string[],
): void {
  const claimed = typeof action.target === "string" && action.target.trim() !== "";
  if (strangers.length === 0) {
    if (claimed && !target) {
      notes.push("The service graph does not know the target: what is said of it can't be checked");
    }
    return;
  }
  const names = strangers.slice(0, 3).join(", ").slice(0, 120);
  if (policy.bounds.require_known_target !== false && !judgeActionCommand(action).looks) {
    ask(
      "unknown_target",
      `The service graph does not know ${names}`,
      "Name a service of the graph, or add it there first.",
    );
  } else {
    notes.push(
      `The service graph does not know the target ${names}: what is said of it can't be checked`,
    );
  }
}

/** Objects where the words of the action contradict those of the incident. */
function checkWords({ incident, action = {} }: ValidateRequest, ask: Ask): void {
  if (judgeActionCommand(action).looks) return;
  const { description, target } = action;
  const words = [description, target].filter((one) => typeof one === "string").join(" \n");
  for (
    const { incident: said, action: claimed } of contradictions(
      incident,
      words,
      namesActedOn(action),
    ).slice(0, 4)
  ) {
    ask(
      "contradicted",
      `The incident says "${said.slice(0, 80)}", and the action says "${claimed.slice(0, 80)}"`
        .toWellFormed(),
      "Let the action rest on what the incident says, or correct the incident.",
    );
  }
}

type Ask = (code: string, reason: string, remedy: string) => unknown;

/** Objects where the incident or the command is about a service that has nothing to do with the target. */
function checkSubject(
  { incident, action }: ValidateRequest,
  state: PlatformState,
  target: string,
  ask: Ask,
): void {
  const named = state.named.filter(({ name }) => mentions(incident, name));
  const near = new Set([target, ...state.needs, ...(state.dependents ?? [])]);
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
  // A namespace or a container that a reading command names is not what it acts on.
  if (judgeActionCommand(action ?? {}).looks) return;
  const command = typeof action?.command === "string" ? action.command : "";
  const others = state.named.filter(({ name }) => mentions(command, name) && !near.has(name));
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

/** Objects where the last probe, as the caller gives it or as it is stored, saw the target in order. */
function checkProbe(
  { incident, context }: ValidateRequest,
  { target }: PlatformState,
  ask: Ask,
): void {
  const healthy = context?.observed?.healthy;
  if (healthy === true) {
    ask(
      "seen_healthy",
      `The last probe saw ${target!.name} in order`,
      "Probe again, and repair only what is still at fault.",
    );
  }
  const fresh = target!.checkedAgo !== null && target!.checkedAgo <= MAX_PROBE_AGE_SECONDS;
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

/** Objects where the ticket does not exist, is resolved, or is about another service. */
function checkTicket(
  { context }: ValidateRequest,
  { ticket, target, needs, dependents }: PlatformState,
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

/** Objects where the description and the command give different numbers. */
function checkNumbers({ action }: ValidateRequest, ask: Ask): void {
  if (typeof action?.description !== "string" || typeof action.command !== "string") return;
  const described =
    /\b(?:to|on|auf|à|a)\s(\d{1,4})\s(?:replicas?|pods?|instances?|workers?|tasks?)\b|\breplicas?\s?(?:=|to)\s?(\d{1,4})\b/i
      .exec(action.description.slice(0, 2_000));
  const executed =
    /(?:--replicas|--desired-count|--desired-capacity|replicas"?)\s?[= :]\s?(\d{1,4})\b/
      .exec(action.command.slice(0, 4_000))?.[1];
  const number = described?.[1] ?? described?.[2];
  if (number !== undefined && executed !== undefined && Number(number) !== Number(executed)) {
    ask(
      "numbers_differ",
      `The description says ${Number(number)} and the command ${Number(executed)}`,
      "Let the description and the command say the same number.",
    );
  }
}
