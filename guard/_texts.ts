/** Takes a request apart into the texts that are looked at, each with where it stands. */
import type { ValidateRequest } from "./types.ts";

/** One text of a request. */
export interface Text {
  /** Where it stands: `incident`, `action.command`, `action.notes.0`. */
  readonly at: string;
  readonly text: string;
  /** It is a command, by its key or by what it says; a list of words is one, too. */
  readonly isCommand: boolean;
}

/** What a request says in all, and whether it says more than is looked at. */
export interface Texts {
  readonly all: readonly Text[];
  readonly tooMuch: boolean;
}

/** Most that is looked at of one request, in UTF-16 units; what has more is not allowed. */
export const MOST_TEXT = 12_000;
const MOST_TEXTS = 64;
const DEEPEST = 8;
const COMMANDS =
  /^(command|commands|cmd|cmds|script|scripts|shell|exec|execute|run|steps?|args?|argv|arguments|bash|sh|powershell|ps1|code|sql|query|payload|rollback|undo|pre|post|pre_?\w*|post_?\w*|before|after|hooks?|entrypoint|inline|invocation|cli|remediation|fallback|next|then|also|and_then|followup|follow_up|program|executable|task|tasks|playbook|job)$/i;
/** Named by the contract, and numbers or names rather than prose. */
const PLAIN = new Set(["confidence", "blast_radius", "touches_secrets"]);

/** The texts of a request, the incident first. */
export function textsOf({ incident, action = {} }: ValidateRequest): Texts {
  const all: Text[] = [];
  let left = MOST_TEXT;
  let tooMuch = false;
  const add = (at: string, text: string, isCommand: boolean) => {
    if (text.trim() === "") return;
    if (text.length > left || all.length >= MOST_TEXTS) tooMuch = true;
    const part = text.slice(0, left);
    left -= part.length;
    if (part !== "" && all.length < MOST_TEXTS) all.push({ at, text: part, isCommand });
  };
  const walk = (at: string, value: unknown, isCommand: boolean, depth: number): void => {
    if (depth > DEEPEST || all.length >= MOST_TEXTS && tooMuch) {
      tooMuch = true;
    } else if (typeof value === "string") add(at, value, isCommand);
    else if (Array.isArray(value)) {
      if (
        isCommand && value.length > 1 &&
        value.every((one) => typeof one === "string" && !/\s\S+\s/.test(one))
      ) {
        add(at, value.slice(0, 200).map(quoted).join(" "), true);
      } else value.slice(0, 200).forEach((one, n) => walk(`${at}.${n}`, one, isCommand, depth + 1));
      if (value.length > 200) tooMuch = true;
    } else if (typeof value === "object" && value !== null) {
      const entries = Object.entries(value);
      if (entries.length > 200) tooMuch = true;
      for (const [key, one] of entries.slice(0, 200)) {
        if (/\s/.test(key) && key.length > 12 || key.length > 40) add(`${at}.(key)`, key, false);
        walk(`${at}.${key.slice(0, 40)}`, one, isCommand || COMMANDS.test(key), depth + 1);
      }
    }
  };
  add("incident", incident, false);
  const { command, description, target, ...more } = action;
  walk("action.command", command, true, 0);
  walk("action.description", description, false, 0);
  walk("action.target", target, false, 0);
  for (const [key, value] of Object.entries(more)) {
    if (PLAIN.has(key) && typeof value !== "object" && String(value).length <= 24) continue;
    if (/\s/.test(key) || key.length > 40) add("action.(key)", key, false);
    walk(`action.${key.slice(0, 40)}`, value, COMMANDS.test(key), 0);
  }
  return { all, tooMuch };
}

function quoted(word: unknown): string {
  const text = String(word);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
