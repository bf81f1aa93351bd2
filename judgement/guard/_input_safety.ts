/** The first rail: the request's texts hide nothing, carry no secret, and do not instruct the judge. */
import { findCommands, findOrderedCommands } from "./_embedded_commands.ts";
import { memoize } from "./_memoize.ts";
import type { RequestTexts, Text } from "./_texts.ts";
import { checkCommand } from "./shell/mod.ts";
import {
  decodeViews,
  findHidden,
  findSecrets,
  findTricks,
  type HiddenText,
  instructsAgent,
  instructsJudge,
  MAX_DECODINGS,
  type View,
} from "./text/mod.ts";
import type { Objection, RailResult } from "./types.ts";

const MAX_OBJECTIONS = 12;
const MAX_NOTES = 4;
const PLAIN_TEXT =
  "Write it in plain, visible text that says what is wrong and what is to be done, and nothing to whoever checks it.";

/** Checks every text of a request in every reading of it. */
export function inputSafety({ all, tooMuch }: RequestTexts): RailResult {
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
    const result = checkText(text);
    objections.push(...result.objections);
    notes.push(...result.notes);
  }
  const distinct = [
    ...new Map(objections.map((one) => [`${one.weight} ${one.code} ${one.reason}`, one])).values(),
  ];
  return {
    objections: distinct.slice(0, MAX_OBJECTIONS),
    notes: [...new Set(notes)].slice(0, MAX_NOTES),
  };
}

const checkText = memoize(
  (text: Text): RailResult => {
    const notes: string[] = [];
    const views = decodeViews(text.text);
    const readings = views.flatMap((view) => checkReading(view, text, notes));
    return {
      objections: [
        ...hiddenObjections(text),
        ...secretObjections(text),
        ...readings,
        ...depthObjections(views, text),
      ],
      notes,
    };
  },
  ({ at, text, isCommand }) => at === "incident" ? undefined : `${isCommand} ${at}\n${text}`,
);

/** Objects to text within as many encodings as are read: what is deeper is not seen. */
function depthObjections(views: readonly View[], { at }: Text): Objection[] {
  return views.some(({ by }) => by.length >= MAX_DECODINGS)
    ? [{
      weight: "ask",
      code: "nested_encodings",
      reason: `${at} has text within more encodings than are read`,
      remedy: PLAIN_TEXT,
    }]
    : [];
}

function hiddenObjections({ at, text }: Text): Objection[] {
  return findHidden(text).map(({ kind, certain }) => ({
    weight: certain ? "deny" : "ask",
    code: `hidden_${kind}`,
    reason: `${at} has ${HIDDEN_KINDS[kind]}`,
    remedy: "Send the text without characters that can't be seen or that look like others.",
  }));
}

const HIDDEN_KINDS: Readonly<Record<HiddenText["kind"], string>> = {
  tags: "letters that are not shown (Unicode tags)",
  bidi: "marks that turn the order of reading around",
  zero_width: "characters without width within words",
  selectors: "data hidden in variation selectors",
  controls: "control characters",
  mixed_scripts: "words that mix letters of scripts which look alike",
  private: "characters without a meaning of their own",
};

function secretObjections({ at, text }: Text): Objection[] {
  return findSecrets(text).map((kind) => ({
    weight: "ask",
    code: "secret",
    reason: `${at} carries ${kind}`,
    remedy: "Take the secret out, have it changed, and name where it is kept instead.",
  }));
}

function checkReading(view: View, text: Text, notes: string[]): Objection[] {
  const objections = injectionObjections(view, text, notes);
  return [...objections, ...commandObjections(view, text)];
}

function injectionObjections(
  { text, by }: View,
  { at }: Text,
  notes: string[],
): Objection[] {
  const objections: Objection[] = [];
  const add = (weight: Objection["weight"], code: string, reason: string) =>
    objections.push({
      weight,
      code,
      reason: `${at} ${reason}${describeDecodings(by)}`,
      remedy: PLAIN_TEXT,
    });
  const keepsText = by.every((decoding) => LETTER_DECODINGS.has(decoding));
  for (const { trick, reported } of findTricks(text, at === "incident" && keepsText)) {
    if (!reported) add("deny", "injection", trick);
    else {
      notes.push(
        "The incident reports text that is meant to steer a judge; it was read as a report",
      );
    }
  }
  if (objections.length === 0 && !by.includes("digits for letters") && instructsJudge(text)) {
    add("deny", "injection", "dictates the verdict");
  }
  if (objections.length === 0 && keepsText && instructsAgent(text)) {
    add("ask", "orders_an_agent", "orders an agent to do something");
  }
  return objections;
}

/** Objects to commands that are hidden by an encoding, or that an incident orders to run. */
function commandObjections({ text, by }: View, { at, isCommand }: Text): Objection[] {
  if (isCommand && by.length === 0) return [];
  const commands = by.length > 0 && isEncoding(by)
    ? findCommands(text)
    : at === "incident"
    ? findOrderedCommands(text)
    : [];
  return commands.flatMap((line): Objection[] => {
    const worst = checkCommand(line).find(({ weight }) => weight === "deny");
    return worst
      ? [{
        weight: "deny",
        code: "hidden_command",
        reason: `${at} holds a command${describeDecodings(by)}: ${worst.reason}`,
        remedy: PLAIN_TEXT,
      }]
      : [];
  });
}

function describeDecodings(by: readonly string[]): string {
  return by.length === 0 ? "" : `, read through ${by.join(", then ")}`;
}

function isEncoding(by: readonly string[]): boolean {
  return !by.includes("digits for letters") &&
    (by.length === 1 || by.some((decoding) => !WORD_MAKING_DECODINGS.has(decoding)));
}

/** Decodings that only replace single letters. */
const LETTER_DECODINGS = new Set(["digits for letters", "lookalike letters"]);
/** Decodings that make words out of any text. A command that only two of them together show is a coincidence. */
const WORD_MAKING_DECODINGS = new Set(["reversed", "rot13", "spaced letters"]);
