/** Sentences about approvals, and about calls that agents and people make. */
import type { Tell } from "./_tell.ts";
import { countWords, printDuration, sayCode } from "./_words.ts";
import { asCount, asList, asText } from "./receipt.ts";

const approval: Tell = ({ action, outcome, details }) => {
  const needed = asCount(details.needed);
  const given = asList(details.approvers).length;
  const seconds = asCount(details.expires_in_seconds);
  switch (action) {
    case "approval.requested":
      return [
        needed === undefined || needed < 2
          ? "A person was asked to approve"
          : `${countWords(needed, "person", "people")} were asked to approve`,
        seconds ? `, within ${printDuration(seconds * 1_000)}` : "",
      ].join("");
    case "approval.approved":
      if (outcome === "approved") {
        const by = given > 0 ? ` by ${countWords(given, "person", "people")}` : "";
        return `Approved${by}${details.signed_with === "passkey" ? ", with a passkey" : ""}`;
      }
      return `A person approved; ${
        needed === undefined
          ? "more have"
          : `${countWords(Math.max(0, needed - given), "more", "more")} ${
            needed - given === 1 ? "has" : "have"
          }`
      } to`;
    case "approval.denied":
      return "A person denied it";
    case "approval.reopened":
      return "A person asked again";
    case "approval.expired":
      return details.ended
        ? "The approval was ended from outside, so that nothing was done"
        : "Nobody decided in time, so that nothing was done";
    case "approval.outdated":
      return "What was to be approved had changed, so that the question ended";
    case "approval.escalated":
      return "Nobody had decided yet, and more people were told";
    case "approval.refused":
      return "A vote came another way than through the gateway, and did not count";
    default:
      return undefined;
  }
};

/** Ends of calls and acts. */
const ENDS: Readonly<Record<string, string>> = {
  success: "done",
  done: "done",
  failed: "it failed",
  refused: "it was refused",
  not_done: "it was not done, which is proven",
  unknown: "nobody can tell whether it was done",
  canceled: "it was cancelled",
  held: "held until people decide",
  dry_run: "tried without doing it",
};

const act: Tell = ({ action, subject, outcome }) =>
  action === "act.intended"
    ? `The approved call ${subject} was begun`
    : `The approved call ${subject} ended: ${ENDS[outcome] ?? sayCode(outcome)}`;

const call: Tell = ({ actor, subject, outcome, details }) => {
  const ms = asCount(details.duration_ms);
  const door = asText(details.door);
  return `${sayCaller(actor)} called ${subject}${door ? ` over ${door.toUpperCase()}` : ""}: ${
    ENDS[outcome] ?? sayCode(outcome)
  }${ms === undefined ? "" : `, in ${printDuration(ms)}`}`;
};

const DECISIONS: Readonly<Record<string, string>> = {
  allow: "allowed",
  needs_approval: "people had to approve",
  deny: "denied",
};

/** Receipts of what people decide name nobody. */
const sayCaller = (actor: string) =>
  actor === "person" ? "A person" : actor === "anonymous" ? "Somebody without a key" : "A key";

const decision: Tell = ({ actor, subject, outcome, details }) => {
  const rule = asText(details.rule);
  return `${sayCaller(actor)} wanted to call ${subject}: ${DECISIONS[outcome] ?? sayCode(outcome)}${
    rule ? ` by the rule ${rule}` : ""
  }`;
};

const stop: Tell = ({ action, outcome }) =>
  /remove|lift|resume/.test(`${action} ${outcome}`) ? "A stop was lifted" : "A stop was set";

/** Sentences by category. */
export const APPROVAL_SENTENCES: Readonly<Record<string, Tell>> = {
  approval,
  governed_act: act,
  governance_stop: stop,
  governance_decision: decision,
  tool_call: call,
  api_call: call,
};
