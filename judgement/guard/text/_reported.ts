/** Tells reports about injected text, and ordinary talk of approvals, from the injected text itself. */
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("reported", [
  "reports",
]);

const REPORTS = expressions.reports;
const QUOTES = /["“”„«»‘’`'「」『』]/;

/** Before a verb: somebody is unable to, or a control of a program is named. */
const UNABLE =
  /(?:cannot|can't|can not|could not|couldn't|unable to|able to|fails? to|failed to|tries to|trying to|button|menu|option|clicks?|clicked|refuses? to)\W{0,4}$/i;

/** Tells whether a match speaks of other approvals or states than the verdict: somebody else's, or of another thing. */
export function isOrdinary(text: string, at: number, match: string): boolean {
  const around = text.slice(Math.max(0, at - 60), at + match.length + 40).toLowerCase();
  if (
    /\b(to approve or|please approve or deny|awaiting|waiting for approval|before approving)\b/
      .test(around)
  ) return true;
  const before = text.slice(Math.max(0, at - 40), at);
  if (UNABLE.test(before)) return !/\byou\b/i.test(before);
  if (
    /^(status|risk|passed|safe)["'`]?\s?[:=]/i.test(match.trim()) &&
    !/approv|guardrail|rail|verdict|ignore/.test(around)
  ) return true;
  return /\b(security group|firewall|acl|traffic|port|ip|connections?|packets?|cors|origin|headers?|health ?checks?|tests?|build|pipeline)\b/
    .test(match.toLowerCase()) && !/approv|guardrail|verdict|rails/.test(around);
}

/** Tells whether the sentence around a match reports it: quoted and introduced, or about a third person. */
export function isReported(text: string, at: number, match: string): boolean {
  const before = sentenceBefore(text, at);
  const after = text.slice(at + match.length, at + match.length + 160);
  if (
    /\b(?:approve|approved|allow this|this action|guardrail|validator|rails?\b|confidence|decision|execute|run the|delete|drop the)\b/i
      .test(match) &&
    !/\b(?:bot|chat ?bot|model|llm|assistant|copilot)\b/i.test(`${before} ${after.slice(0, 60)}`)
  ) {
    return false;
  }
  const near = `${before} ${after.split(/[.!?\n]/)[0]}`;
  if (!REPORTS.test(near)) return false;
  const opening = Math.max(
    ...['"', "“", "„", "«", "‘", "`", "'", "「", "『"].map((quote) => before.lastIndexOf(quote)),
  );
  const isQuoted = opening >= 0 && before.length - opening < 90 && QUOTES.test(after.slice(0, 90));
  if (isQuoted) return REPORTS.test(before.slice(0, opening)) || REPORTS.test(after);
  const isIndirect =
    /(?:\bto|\bthat|\binto|\bby|\bwith|\bof|\bcould|\bcan|\bwould|\bwas made to)\s+(?:\w+\s+){0,3}$/i
      .test(before) || /^(?:ignoring|disregarding|bypassing)/i.test(match);
  return isIndirect &&
    !/\b(?:you|your|please|must|i want|we want|need)\b[^.!?]{0,40}$/i.test(before) &&
    /\b(?:bot|chat ?bot|model|llm|assistant|copilot|attackers?|users?|customers?|injections?|jailbreaks?|prompt|attempts?)\b/i
      .test(before);
}

function sentenceBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - 200), at);
  const end = Math.max(
    before.lastIndexOf(". "),
    before.lastIndexOf("\n"),
    before.lastIndexOf("! "),
    before.lastIndexOf("? "),
  );
  return before.slice(end + 1);
}
