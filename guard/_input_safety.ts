/** The first rail: whether the request's texts are meant for the people and programs that repair, or for the judge. */
import { remembered } from "./_remembered.ts";
import { commandObjections } from "./shell/mod.ts";
import {
  hiddenIn,
  ordersAnAgent,
  ordersTheJudge,
  secretsIn,
  tricksIn,
  type View,
  viewsOf,
} from "./text/mod.ts";
import type { Text, Texts } from "./_texts.ts";
import type { Finding, Objection } from "./types.ts";

const PLAIN =
  "Write it in plain, visible text that says what is wrong and what is to be done, and nothing to whoever checks it.";
/** An order within a ticket to run something; what was run ("someone ran …") is none. */
const ORDER =
  /(?:^|[.!?:;,\n]\s*|\b(?:please|then|also|and|now|must|should|to fix(?: this)?,?|simply|just|agent|first|next|finally|immediately)\s+)(?:run|execute|type|issue|launch|invoke|enter|apply|use|do|perform|start)(?:\s+(?:the|this|following|command|script|exactly|as root|on all hosts)){0,4}\s*:?\s*[`'"“]{0,3}([a-zA-Z/$(>{][^`'"”\n]{3,300})/gi;

/** Looks at every text of a request in every reading of it. */
export function inputSafety({ all, tooMuch }: Texts): Finding {
  const objections: Objection[] = [];
  const notes: string[] = [];
  if (tooMuch) {
    objections.push({
      weight: "ask",
      code: "too_long",
      reason: "There is more text than can be looked at",
      remedy: "Send the part that matters, in less than 12,000 characters.",
    });
  }
  for (const text of all) {
    const found = lookedAt(text);
    objections.push(...found.objections);
    notes.push(...found.notes);
  }
  const distinct = [
    ...new Map(objections.map((one) => [`${one.weight} ${one.code} ${one.reason}`, one])).values(),
  ];
  return { objections: distinct.slice(0, 12), notes: [...new Set(notes)].slice(0, 4) };
}

const lookedAt = remembered(
  (text: Text): Finding => {
    const notes: string[] = [];
    const read = viewsOf(text.text).flatMap((view) => readAs(view, text, notes));
    return { objections: [...hidden(text), ...secrets(text), ...read], notes };
  },
  ({ at, text, isCommand }) => at === "incident" ? undefined : `${isCommand} ${at}\n${text}`,
);

function hidden({ at, text }: Text): Objection[] {
  return hiddenIn(text).map(({ kind, sure }) => ({
    weight: sure ? "deny" : "ask",
    code: `hidden_${kind}`,
    reason: `${at} has ${KINDS[kind]}`,
    remedy: "Send the text without characters that can't be seen or that look like others.",
  }));
}

const KINDS = {
  tags: "letters that are not shown (Unicode tags)",
  bidi: "marks that turn the order of reading around",
  zero_width: "characters without width within words",
  selectors: "data hidden in variation selectors",
  controls: "control characters",
  mixed_scripts: "words that mix letters of scripts which look alike",
  private: "characters without a meaning of their own",
} as const;

function secrets({ at, text }: Text): Objection[] {
  return secretsIn(text).map((kind) => ({
    weight: "ask",
    code: "secret",
    reason: `${at} carries ${kind}`,
    remedy: "Take the secret out, have it changed, and name where it is kept instead.",
  }));
}

function readAs({ text, by }: View, { at, isCommand }: Text, notes: string[]): Objection[] {
  const way = by.length === 0 ? "" : `, read through ${by.join(", then ")}`;
  const found: Objection[] = [];
  for (
    const { trick, reported } of tricksIn(
      text,
      at === "incident" && by.every((way) => NEAR.has(way)),
    )
  ) {
    if (reported) {
      notes.push(
        "The incident reports text that is meant to steer a judge; it was read as a report",
      );
    } else {found.push({
        weight: "deny",
        code: "injection",
        reason: `${at} ${trick}${way}`,
        remedy: PLAIN,
      });}
  }
  if (found.length === 0 && !by.includes("digits for letters") && ordersTheJudge(text)) {
    found.push({
      weight: "deny",
      code: "injection",
      reason: `${at} dictates the verdict${way}`,
      remedy: PLAIN,
    });
  }
  if (found.length === 0 && by.every((way) => NEAR.has(way)) && ordersAnAgent(text)) {
    found.push({
      weight: "ask",
      code: "orders_an_agent",
      reason: `${at} orders an agent to do something${way}`,
      remedy: PLAIN,
    });
  }
  const commands = by.length > 0 && isEncoding(by)
    ? commandsIn(text)
    : at === "incident"
    ? ordersIn(text)
    : [];
  if (isCommand && by.length === 0) return found;
  for (const line of commands) {
    const worst = commandObjections(line).find(({ weight }) => weight === "deny");
    if (worst) {
      found.push({
        weight: "deny",
        code: "hidden_command",
        reason: `${at} holds a command${way}: ${worst.reason}`,
        remedy: PLAIN,
      });
    }
  }
  return found;
}

function isEncoding(by: readonly string[]): boolean {
  return !by.includes("digits for letters") &&
    (by.length === 1 || by.some((way) => !TURNED.has(way)));
}

/** Ways that leave a text what it was, but for single letters. */
const NEAR = new Set(["digits for letters", "lookalike letters"]);
/** Ways that make words out of any text; a command that only two of them together show is chance. */
const TURNED = new Set(["reversed", "rot13", "spaced letters"]);
const PROGRAMS =
  /(?<![\w/.-])(?:sudo\s+)?(?:\/(?:usr\/)?s?bin\/)?(?:rm|dd|mkfs[.\w]*|wipefs|shred|chmod|chown|curl|wget|bash|sh|nc|ncat|kubectl|terraform|docker|psql|mysql|mongosh|redis-cli|systemctl|iptables|ufw|userdel|crontab|find|kill|python3?|perl|powershell|pwsh|cmd|vssadmin|Remove-Item|aws|az|gcloud|git|zpool|shutdown|echo|eval|scp|del|format|dropdb|truncate)\s[^\n]{2,400}/g;

/** Stretches of a decoded text that start with a program's name. */
export function commandsIn(text: string): string[] {
  return [...text.matchAll(PROGRAMS)].slice(0, 6).map(([line]) =>
    line.replace(/[`"”]?[.)]?\s*$/, "")
  );
}

function ordersIn(text: string): string[] {
  return [...text.matchAll(ORDER)].slice(0, 6).map(([, line]) => line!.replace(/[.)\]]+\s*$/, ""));
}
