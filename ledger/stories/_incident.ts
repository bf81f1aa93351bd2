/** Sentences about incidents and repairs. */
import { TIMELINE_STEPS, type TimelineStep } from "../../contract/domain/mod.ts";
import type { Tell } from "./_tell.ts";
import { countWords, joinWords, printDuration, sayCode } from "./_words.ts";
import { asCount, asList, asObject, asText, type StoryReceipt } from "./receipt.ts";

/** Kinds of checks that detectors make, as a sentence has them. */
const CHECKS: Readonly<Record<string, string>> = {
  http: "An HTTP check",
  tcp: "A TCP check",
  command: "A check by a command",
  host: "A check of the machine",
  log: "A reading of logs",
  certificate: "A check of a certificate",
  platform: "A check of the platform itself",
  alert: "An alert source",
};

/** Reasons of escalations. */
const REASONS: Readonly<Record<string, string>> = {
  no_runbook: "no runbook matches",
  comes_back: "the same repair had helped again and again for a short time only",
  taken: "a person had taken the ticket",
  flapping: "it went up and down by itself",
  refused_by_guardrails: "the guardrails refused the repair",
  guardrails_away: "the guardrails could not be asked",
  approval_denied: "a person denied the repair",
  approval_expired: "nobody decided in time",
  approval_ended: "the approval was ended from outside",
  stopped: "it was held back for too long",
  unknown_effect: "nobody can tell what the repair has done",
  place_away: "the machine that it is on had no worker",
  not_healed: "the repair did not heal it",
  not_done: "no repair could be carried out",
  not_proven: "those who saw the fault could not tell whether it was gone",
  cancelled: "the run was cancelled",
};

/** Verbs of a step of a repair: while it begins, and once it is done. */
const STEPS: Readonly<Record<string, readonly [begins: string, done: string]>> = {
  restart: ["a restart", "restarted"],
  command: ["a command of the allow-list", "ran a command"],
  clean: ["a clean-up", "cleaned up"],
  purge: ["a removal of what was put aside", "removed what was put aside"],
  http: ["an HTTP request", "sent a request"],
  look: ["a look", "looked"],
  wait: ["a wait", "waited"],
  workflow: ["a workflow", "started a workflow"],
  notify: ["a message", "sent a message"],
  stop: ["a stop", "stopped a process"],
  descriptors: ["a raise of a limit", "raised a limit"],
  join: ["a link to the incident that it comes from", "joined the incident that it comes from"],
  script: ["a script on a device", "ran a script on a device"],
};

const RAILS: Readonly<Record<string, string>> = {
  input_safety: "the safety of its texts",
  execution_bounds: "what it does and how far it reaches",
  output_fact_check: "whether its claims are true",
  retrieval_integrity: "the sources that it cites",
};

const opened: Tell = ({ action, details, outcome }) => {
  const { check, code, related, cases, severity } = details;
  const more = asCount(related);
  switch (action) {
    case "ticket.open":
      return [
        openingOf(asText(check), asText(code)),
        more
          ? `; ${countWords(more, "other fault")} probably ${more === 1 ? "comes" : "come"} from it`
          : "",
        "; a ticket was opened",
      ].join("");
    case "ticket.take_over":
      return `The fault was seen again (${
        sayCode(asText(code))
      }), and a new run took over its ticket`;
    case "problem.open":
      return `A problem was opened, as the fault came ${
        countWords(asCount(cases) ?? 0, "time")
      } within the hour`;
    case "tickets.create":
      return `A ticket for people was opened${
        severity ? `, of ${sayCode(asText(severity))} severity` : ""
      }`;
    default:
      return outcome === "open" ? "A ticket was opened" : undefined;
  }
};

function openingOf(check: string, code: string): string {
  if (code === "restart_asked") return "Somebody asked for a restart";
  if (check === "report") return "Somebody reported a fault";
  const who = CHECKS[check] ?? "A check";
  return `${who} found a fault${code ? ` (${sayCode(code)})` : ""}`;
}

const verdict: Tell = ({ outcome, details }) => {
  const failed = Object.entries(asObject(details.rails))
    .flatMap(([rail, passed]) => passed === false ? [RAILS[rail] ?? sayCode(rail)] : []);
  const because = details.freeze === true
    ? ": changes were frozen"
    : failed.length > 0
    ? `, because of ${joinWords(failed)}`
    : (asCount(details.exceeds) ?? 0) > 0
    ? ": it exceeds the bounds of its runbook"
    : "";
  switch (outcome) {
    case "allow":
      return "The guardrails allowed it";
    case "needs_approval":
      return `It needed approval${because}`;
    case "deny":
      return `The guardrails refused it${
        failed.length > 0 ? `, because of ${joinWords(failed)}` : ""
      }`;
    default:
      return undefined;
  }
};

const intended: Tell = ({ action, details }) => {
  const [step, steps] = [asCount(details.step), asCount(details.steps)];
  const of = step && steps && steps > 1 ? `, step ${step} of ${steps}` : "";
  const round = asCount(details.round) ?? 1;
  return `The repair began: ${STEPS[action]?.[0] ?? sayCode(action)}${of}${
    round > 1 ? `, in round ${round}` : ""
  }`;
};

const undoing: Tell = ({ action }) =>
  `It did not help, and undoing began: ${STEPS[action]?.[0] ?? sayCode(action)}`;

const held: Tell = ({ category, details }) => {
  const what = category === "undo_held" ? "Undoing" : "The repair";
  const until = asText(details.until);
  switch (details.stop) {
    case "all":
      return `${what} was held back: everything was stopped`;
    case "key":
      return `${what} was held back: the key that asked for it was stopped`;
    case "tool":
      return `${what} was held back: acts of its kind were stopped`;
    case "maintenance":
      return `${what} was held back by a maintenance window${until ? ` until ${until}` : ""}`;
    case "guardrails":
      return `${what} waited, as the guardrails could not be asked`;
    default:
      return `${what} was held back`;
  }
};

/** Says what the steps of a repair did: `restarted once`. */
function sayDone(steps: unknown): string {
  const counts = new Map<string, number>();
  for (const step of asList(steps).map(asObject)) {
    const kind = asText(step.kind);
    if (step.state !== "done" || kind === "look" || kind === "wait" || kind === "notify") continue;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return joinWords([...counts].map(([kind, n]) => {
    const times = n === 1 ? "once" : n === 2 ? "twice" : `${n} times`;
    return `${STEPS[kind]?.[1] ?? `${sayCode(kind)} done`} ${times}`;
  }));
}

const healed: Tell = ({ outcome, details }, since) => {
  if (outcome !== "sealed") return `The run ended as ${sayCode(outcome)}`;
  const done = sayDone(details.steps);
  const rounds = asCount(details.rounds) ?? 1;
  const ms = timelineIn({ details }).at(-1)?.to_ms;
  const after = ms !== undefined
    ? ` ${printDuration(ms)} after the fault was seen`
    : since !== undefined
    ? `, ${printDuration(since)} after its ticket was opened`
    : "";
  if (details.effect === undefined) return `It was healthy before anything was done${after}`;
  return [
    done || "Nothing was changed",
    rounds > 1 ? `, in ${countWords(rounds, "round")}` : "",
    asObject(details.verified).healthy === true
      ? `, and found healthy${after}`
      : "; no check proved its health",
  ].join("");
};

/** Returns the timeline that a receipt tells; one that has another form is none. */
export function timelineIn({ details }: Pick<StoryReceipt, "details">): TimelineStep[] {
  const steps = asList(details.timeline).map(asObject).map(({ step, from_ms, to_ms }) => ({
    step: asText(step) as TimelineStep["step"],
    from_ms: asCount(from_ms) ?? -1,
    to_ms: asCount(to_ms) ?? -1,
  }));
  const isWhole = steps.every(({ step, from_ms, to_ms }) =>
    STEP_NAMES.has(step) && from_ms >= 0 && to_ms >= from_ms
  );
  return isWhole && steps.length <= MAX_STEPS ? steps : [];
}

const STEP_NAMES: ReadonlySet<string> = new Set(TIMELINE_STEPS);
const MAX_STEPS = 60;

const escalated: Tell = ({ action, outcome, details }) => {
  const reason = asText(details.reason);
  if (action === "run.ended") {
    const status = asText(details.status);
    return `Its run was ended from outside${
      status ? ` (${sayCode(status.toLowerCase())})` : ""
    }, and people were asked to take over`;
  }
  const done = sayDone(details.steps);
  const because = REASONS[reason] ?? (reason ? sayCode(reason) : "");
  const unknown = outcome === "unknown" ? "; what was done is not known" : "";
  return `It was left to people${because ? `: ${because}` : ""}${
    done ? ` (${done})` : ""
  }${unknown}`;
};

const closed: Tell = ({ action, outcome, details }) => {
  switch (action) {
    case "tickets.recovered": {
      const by = {
        repair: "the last repair mended it",
        people: "people mended it",
        supervisor: "the platform's supervisor started it again",
      }[asText(details.mended_by)];
      return `The fault was gone, and the ticket was closed: ${
        by ?? "nobody has told what mended it"
      }`;
    }
    case "drill.cancelled":
      return "The drill was cancelled, and its ticket closed";
    default:
      return `The ticket was closed as ${sayCode(outcome)}`;
  }
};

const broughtBack: Tell = ({ outcome, details }) => {
  if (outcome === "intended") {
    return "A process that had ended together with the platform was to be started again";
  }
  const code = asText(details.code);
  return outcome === "done"
    ? "A process that had ended together with the platform was started again"
    : `Starting a process again ended as ${sayCode(outcome)}${code ? ` (${sayCode(code)})` : ""}`;
};

const silence: Tell = ({ category, action, outcome }) => {
  const does = action === "lift"
    ? "Alerts about it were to be heard again"
    : "Alerts about it were to be silenced";
  return category === "silence_intended" ? does : `${does}: ${sayCode(outcome)}`;
};

/** Sentences by category. */
export const INCIDENT_SENTENCES: Readonly<Record<string, Tell>> = {
  ticket_opened: opened,
  guardrail_verdict: verdict,
  repair_intended: intended,
  undo_intended: undoing,
  repair_held: held,
  undo_held: held,
  self_heal: healed,
  escalation: escalated,
  ticket_closed: closed,
  ticket_acknowledged: () => "A person said that they had seen it",
  ticket_taken: () => "A person took it over, and the platform left it alone",
  ticket_handed_back: () => "A person handed it back to the platform",
  service_brought_back: broughtBack,
  silence_intended: silence,
  silence_ended: silence,
  platform_fix: ({ outcome }) => `A fix of the platform was sealed: ${sayCode(outcome)}`,
};

/** Receipts of a ticket that begin its incident. */
export const isOpening = ({ category, action }: StoryReceipt): boolean =>
  category === "ticket_opened" && action !== "ticket.take_over";
