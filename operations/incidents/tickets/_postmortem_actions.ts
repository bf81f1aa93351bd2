import { isChange } from "../../../contract/domain/mod.ts";
import type { Repair } from "../../../store/incidents/mod.ts";
import { code, count, escape, join, words } from "./_markdown.ts";
import { type Event, moveOf, moverOf, type PostmortemFacts } from "./_postmortem_facts.ts";

/** Matches the code of a step that was done, and whose own check failed. */
const NOT_VERIFIED = /^not_verified_/;

/** Formats what was done, with who allowed it and what it did. */
export function formatActions(facts: PostmortemFacts): string {
  const { events, repairs } = facts;
  const lines = [
    ...events.filter(({ data }) => Array.isArray(data.rails)).map(formatVerdict),
    ...events.filter(({ kind }) => /^approval_(approved|denied|expired)$/.test(kind))
      .map((event) => formatDecision(event, facts)),
    ...repairs.map(formatRepair),
  ];
  return lines.length === 0 ? "The platform tried no repair." : lines.join("\n");
}

/**
 * Formats a verdict of the guardrails, with the reasons of each rail that did not pass. It says "rails", as "guardrails:
 * allow" is found to be an injection.
 */
function formatVerdict({ data }: Event): string {
  const rails = data.rails as { rail: string; passed: boolean; reasons?: readonly string[] }[];
  const failed = rails.filter(({ passed }) => !passed)
    .map(({ rail, reasons = [] }) => `\n  - ${escape(rail)}: ${escape(reasons.join("; "))}`);
  const exceeded = Array.isArray(data.exceeds)
    ? data.exceeds.map((bound) => `\n  - beyond its bound: ${escape(String(bound))}`)
    : [];
  const passed = `${rails.length - failed.length} of ${rails.length} passed`;
  return `- rails: **${escape(String(data.decision))}**, ${passed}, policy ${
    code(data.policy_version)
  }${[...failed, ...exceeded].join("")}`;
}

function formatDecision({ kind, data }: Event, { moves }: PostmortemFacts): string {
  const move = moveOf(data, moves);
  const by = moverOf(move);
  const vote = kind === "approval_approved" && move?.status === "pending"
    ? "one of several votes for approval"
    : words(kind);
  return `- ${vote}: ${code(data.approval_id)}${by ? ` by **${escape(by)}**` : ""}`;
}

function formatRepair(repair: Repair): string {
  const { runbook, service, steps } = repair;
  const lines = steps.map(({ step, state, code: reason, undoes }) =>
    `\n  - ${undoes ? "undo of " : ""}${code(step ?? "step")}: ${words(state)} (${words(reason)})`
  );
  return `- Runbook ${code(runbook ?? "none")} on ${escape(service)}: ${describeEffect(repair)} ${
    describeResult(repair)
  }${describeUndo(repair)}${lines.join("")}`;
}

/** Describes what a repair did, whether or not that helped. */
function describeEffect({ state, steps }: Repair): string {
  const forward = steps.filter(({ undoes }) => !undoes);
  const done = forward.filter((step) => step.state === "done").length;
  const failed = forward.filter(({ code }) => NOT_VERIFIED.test(code ?? ""));
  if (state === "intended") return "its intent is sealed, and its end is not on record.";
  if (state === "unknown") return "**nobody can tell what it did**.";
  if (done === 0) return "it **changed nothing**.";
  if (!forward.some(isChange)) return "it noted or waited, and **changed nothing**.";
  if (failed.length > 0) {
    const names = join(failed.map(({ step }) => code(step ?? "step")));
    return `it was carried out, but the check of its own step ${names} **failed**.`;
  }
  return state === "not_done"
    ? `it was carried out **in part**: ${done} of ${count(forward.length, "step")}.`
    : "it was carried out.";
}

/** Describes what a repair did to the fault. */
function describeResult({ state, verified, steps }: Repair): string {
  const isDone = steps.some((step) => !step.undoes && isChange(step));
  if (verified === null) {
    return isDone || state === "unknown" || state === "intended"
      ? "Whether it helped was not checked."
      : "";
  }
  if (!verified) return "The check still failed afterwards: **it did not help**.";
  return isDone
    ? "The check **passed** afterwards."
    : "The check passed afterwards, though it had changed nothing.";
}

function describeUndo({ steps }: Repair): string {
  const undo = steps.filter(({ undoes }) => undoes);
  const done = undo.filter(({ state }) => state === "done").length;
  if (undo.length === 0) return "";
  return done === undo.length
    ? ` What could be undone of it was undone.`
    : ` Of the ${count(undo.length, "step")} to undo, ${done} ${
      done === 1 ? "was" : "were"
    } undone.`;
}
