/** Splits a request into the texts to check, each with its place. */
import type { ValidateRequest } from "./types.ts";
import { readExpressions } from "./_expressions.ts";

const expressions = readExpressions("texts", [
  "command_keys",
]);

/** One text of a request. */
export interface Text {
  /** Its place: `incident`, `action.command`, `action.notes.0`. */
  readonly at: string;
  readonly text: string;
  /** It is a command by its key, or a list of words under such a key. */
  readonly isCommand: boolean;
}

/** All texts of a request. */
export interface RequestTexts {
  readonly all: readonly Text[];
  /** The request has more text than is checked. */
  readonly tooMuch: boolean;
}

/** Text of one request that is checked, in UTF-16 units. A request with more is not allowed. */
const MAX_TEXT_LENGTH = 12_000;
const MAX_TEXTS = 64;
const MAX_DEPTH = 8;
/** Elements of an array, and keys of an object. */
const MAX_ELEMENTS = 200;
const MAX_KEY_LENGTH = 40;
/** Keys whose values are commands. */
const COMMAND_KEYS = expressions.command_keys;

/** Keys of the contract whose values are numbers or names, not prose. */
const PLAIN_KEYS = new Set(["confidence", "blast_radius", "touches_secrets"]);

/** Returns the texts of a request, the incident first. */
export function textsOf({ incident, action = {} }: ValidateRequest): RequestTexts {
  const all: Text[] = [];
  let left = MAX_TEXT_LENGTH;
  let tooMuch = false;
  const add = (at: string, text: string, isCommand: boolean) => {
    if (text.trim() === "") return;
    if (text.length > left || all.length >= MAX_TEXTS) tooMuch = true;
    const part = text.slice(0, left);
    left -= part.length;
    if (part !== "" && all.length < MAX_TEXTS) all.push({ at, text: part, isCommand });
  };
  const walk = (at: string, value: unknown, isCommand: boolean, depth: number): void => {
    if (depth > MAX_DEPTH || all.length >= MAX_TEXTS && tooMuch) {
      tooMuch = true;
    } else if (typeof value === "string") add(at, value, isCommand);
    else if (Array.isArray(value)) {
      if (
        isCommand && value.length > 1 &&
        value.every((one) => typeof one === "string" && !/\s\S+\s/.test(one))
      ) {
        add(at, value.slice(0, MAX_ELEMENTS).map(quote).join(" "), true);
      } else {value.slice(0, MAX_ELEMENTS).forEach((one, n) =>
          walk(`${at}.${n}`, one, isCommand, depth + 1)
        );}
      if (value.length > MAX_ELEMENTS) tooMuch = true;
    } else if (typeof value === "object" && value !== null) {
      const entries = Object.entries(value);
      if (entries.length > MAX_ELEMENTS) tooMuch = true;
      for (const [key, one] of entries.slice(0, MAX_ELEMENTS)) {
        if (/\s/.test(key) && key.length > 12 || key.length > MAX_KEY_LENGTH) {
          add(`${at}.(key)`, key, false);
        }
        walk(
          `${at}.${key.slice(0, MAX_KEY_LENGTH)}`,
          one,
          isCommand || COMMAND_KEYS.test(key),
          depth + 1,
        );
      }
    }
  };
  add("incident", incident, false);
  const { command, description, target, ...more } = action;
  walk("action.command", command, true, 0);
  walk("action.description", description, false, 0);
  walk("action.target", target, false, 0);
  for (const [key, value] of Object.entries(more)) {
    if (PLAIN_KEYS.has(key) && typeof value !== "object" && String(value).length <= 24) continue;
    if (/\s/.test(key) || key.length > MAX_KEY_LENGTH) add("action.(key)", key, false);
    walk(`action.${key.slice(0, MAX_KEY_LENGTH)}`, value, COMMAND_KEYS.test(key), 0);
  }
  return { all, tooMuch };
}

function quote(word: unknown): string {
  const text = String(word);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
