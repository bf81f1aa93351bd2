import { code, compose, count, escape, formatOffset, sentence, tell, words } from "./_markdown.ts";
import { type Event, moveOf, moverOf, type PostmortemFacts } from "./_postmortem_facts.ts";
import { describeEscalation } from "../../../store/incidents/mod.ts";

type Data = Event["data"];

/** The end of what was printed, where programs say why they failed. */
const MAX_PRINTED = 200;

/** The facts that sentences about events are made from. */
type Told = Pick<PostmortemFacts, "events" | "moves">;

/** Describes each event of a ticket in a sentence, in Markdown, oldest first. */
export function describeEvents(facts: Told): { readonly at: string; readonly text: string }[] {
  return facts.events.map((event) => ({
    at: event.at,
    text: compose(describeEvent(event, facts)).text,
  }));
}

/** Formats the events as a table of sentences. Ids of receipts are in a section of their own. */
export function formatTimeline(facts: Told): string {
  const { events } = facts;
  const first = events[0] ? Date.parse(events[0].at) : 0;
  const lines = events.map((event) =>
    `| ${event.at} | +${formatOffset(Date.parse(event.at) - first)} | ${
      describeEvent(event, facts)
    } |`
  );
  return ["| when | after | event |", "| --- | --- | --- |", ...lines].join("\n");
}

/** Describes an event in a sentence. @returns Markdown of one line */
export function describeEvent(event: Event, facts: Told): string {
  const { kind, data } = event;
  const says = SENTENCES[kind];
  if (says) return [says(data), ...describePrinted(data)].join(" ");
  const move = /^approval_(.+)$/.exec(kind)?.[1];
  return move ? describeMove(move, data, facts) : `${words(kind)}.`;
}

/** Sentence of an event, by its kind. */
const SENTENCES: Readonly<Record<string, (data: Data) => string>> = {
  detected: ({ check, code: found, related }) => {
    if (check === "report") return "A report about a fault came in.";
    const more = Array.isArray(related) ? related.length : 0;
    const others = more === 0 ? "" : `, and ${count(more, "more finding")} that it probably causes`;
    return `The ${words(check)} check found ${code(found)}${others}.`;
  },
  opened: () => "The ticket was opened.",
  taken_over: ({ because, requested_by }) =>
    because
      ? sentence(`A new run took the open ticket over and tried again, as ${because}`)
      : requested_by
      ? "A new run took the open ticket over, as somebody asked for it."
      : "A new run took the open ticket over, as the fault was found again.",
  acknowledged: ({ by }) => `**${escape(String(by))}** acknowledged it.`,
  taken: ({ by }) => `**${escape(String(by))}** took it, so that the platform left it alone.`,
  handed_back: ({ by }) => `**${escape(String(by))}** handed it back to the platform.`,
  diagnosed: describeDiagnosis,
  outdated: ({ runbook, why }) =>
    sentence(`Runbook ${runbook} was not carried out, and was made anew: ${why}`),
  permitted: () => "The guardrails allowed the repair.",
  approval_needed: () => "The guardrails asked for the consent of a person.",
  granted: ({ grant, use, max_uses }) =>
    `The standing grant ${code(grant)} allowed it without asking: use ${use} of ${max_uses}.`,
  refused: () => "The guardrails refused the repair.",
  intended: ({ runbook, step }) =>
    `The intent to run step ${code(step)} of runbook ${code(runbook)} was sealed.`,
  step_done: ({ step, state }) =>
    state === "done"
      ? `Step ${code(step)} was done.`
      : `Step ${code(step)} ended well and changed nothing.`,
  step_failed: ({ step, code: reason, state }) =>
    state === "unknown"
      ? `Nobody can tell whether step ${code(step)} was done: ${words(reason)}.`
      : state === "done"
      ? `Step ${code(step)} was done, and its own check failed: ${words(reason)}.`
      : `Step ${code(step)} was not done: ${words(reason)}.`,
  remediated: ({ runbook }) =>
    `Runbook ${code(runbook)} was carried out. Whether it helped was not known yet.`,
  remediation_failed: ({ runbook, state, code: reason }) =>
    `Runbook ${code(runbook)} ${
      state === "unknown"
        ? "ended, and nobody can tell what it did"
        : state === "partly_done"
        ? "was carried out in part"
        : "changed nothing"
    }: ${words(reason)}.`,
  verified: () => "The check passed.",
  verification_failed: ({ code: found }) =>
    found === "no_check"
      ? "No check could tell whether the fault was over."
      : found === "alerts_unknown"
      ? "Those who saw the fault could not tell whether it was over."
      : `The check still failed: ${code(found)}.`,
  undo_intended: ({ step }) => `The intent to undo step ${code(step)} was sealed.`,
  undone: ({ code: result }) =>
    result === "nothing_to_undo" ? "There was nothing to undo." : "The repair was undone.",
  undo_failed: ({ state, code: reason }) =>
    state === "unknown"
      ? `Nobody can tell whether the repair was undone: ${words(reason)}.`
      : `The repair was not undone, or not all of it: ${words(reason)}.`,
  held: ({ stop, step }) => `Step ${code(step)} was held back (${words(stop)}).`,
  undo_held: ({ stop, step }) => `Undoing step ${code(step)} was held back (${words(stop)}).`,
  guardrails_back: () => "The guardrails could be asked again, and the platform went on.",
  silenced: ({ state }) =>
    state === "done"
      ? "Alerts about it were silenced."
      : `Alerts about it were to be silenced: ${words(state)}.`,
  silence_lifted: ({ state }) =>
    state === "done"
      ? "The silence of the alerts was lifted."
      : `The silence of the alerts was to be lifted: ${words(state)}.`,
  notified: ({ message }) => `People were told: ${sentence(String(message))}`,
  recurs: ({ message, problem_id }) =>
    `${sentence(String(message))} The problem is ${code(problem_id)}.`,
  receipt_embedded: () => "A receipt was put on the ticket.",
  escalated: ({ reason, status }) => `It was escalated to people. ${why(reason, status)}.`,
  run_ended: ({ outcome, reason }) =>
    `The run ended (${words(outcome)}) after the ticket had been closed${
      reason ? `: ${tell(describeEscalation(String(reason)))}` : ""
    }.`,
  resolved: ({ outcome, by }) =>
    outcome === "sealed"
      ? "The platform closed the ticket, as the check had passed."
      : outcome === "recovered"
      ? "The platform closed the ticket, as the fault was gone when it was looked at again."
      : by === "person"
      ? "A person closed the ticket."
      : "The ticket was closed with a note.",
};

/** Tells the end of what a step has printed; of several steps, each has an event of its own. */
function describePrinted({ printed, steps }: Data): string[] {
  if (typeof printed !== "string" || Array.isArray(steps) && steps.length > 1) return [];
  return [`It printed at its end: ${code(printed.slice(-MAX_PRINTED).toWellFormed())}.`];
}

function why(reason: unknown, status: unknown): string {
  if (reason) return tell(describeEscalation(String(reason)));
  return status === undefined
    ? "No reason is on record"
    : `Its run had ended (${words(String(status).toLowerCase())})`;
}

function describeDiagnosis({ round, symptom, cause, action }: Data): string {
  const found = typeof cause === "string" ? `named the cause ${code(cause)}` : "named no cause";
  const chosen = typeof action === "string"
    ? `chose the runbook ${code(action)}`
    : "found no runbook to use";
  return `Diagnosis of round ${round ?? 1}: the symptom was ${
    code(symptom)
  }; it ${found}, and ${chosen}.`;
}

/** Describes a move of an approval. One of several votes decides nothing. */
function describeMove(kind: string, data: Data, { moves }: Told): string {
  const id = code(data.approval_id);
  const move = moveOf(data, moves);
  const who = moverOf(move);
  const by = who ? ` by **${escape(who)}**` : "";
  switch (kind) {
    case "requested":
      return `The consent of people was asked for: approval ${id}.`;
    case "approved":
      return move?.status === "pending"
        ? `Approval ${id} had one more vote${by}, and needed another.`
        : `Approval ${id} was given${by}.`;
    case "denied":
      return `Approval ${id} was denied${by}.`;
    case "expired":
      return `Nobody decided about approval ${id} in time.`;
    case "outdated":
      return sentence(
        `Approval ${data.approval_id} ended, and what it was about was made anew: ${data.why}`,
      );
    case "escalated":
      return `Nobody had decided about approval ${id} yet, and more people were told.`;
    default:
      return `Approval ${id} was ${words(kind)}${by}.`;
  }
}
