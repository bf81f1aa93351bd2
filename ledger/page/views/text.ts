import { h, type View } from "./view.ts";

/** Maximum characters of a text on a page; the record has all of it. */
const MAX_CHARACTERS = 2000;

/**
 * Characters that are invisible or change the direction of others: controls, marks of direction, spaces without width,
 * tags. Joiners are not among them, as scripts and emoji need them.
 */
const INVISIBLE =
  // deno-lint-ignore no-control-regex -- these are searched for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * Shows the text of a receipt, which anyone may have written: names invisible characters, cuts long text, and
 * isolates its direction from the text around it.
 *
 * @param maxCharacters characters that are shown
 */
export function showText(text: string, maxCharacters = MAX_CHARACTERS): View {
  const whole = text.toWellFormed();
  const shown = whole.length > maxCharacters ? whole.slice(0, maxCharacters).toWellFormed() : whole;
  const views: View[] = [];
  let at = 0;
  for (const { 0: character, index } of shown.matchAll(INVISIBLE)) {
    views.push(shown.slice(at, index), h("span", { class: "odd" }, codePoint(character)));
    at = index + character.length;
  }
  views.push(shown.slice(at));
  const rest = whole.length - shown.length;
  if (rest > 0) {
    views.push(h("span", { class: "cut" }, ` … and ${formatCount(rest)} more characters`));
  }
  return h("bdi", {}, views);
}

const codePoint = (character: string) =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;

/** Formats a number with separators: `12,345`. */
export const formatCount = (n: number): string => n.toLocaleString("en");

/** Formats a number of things: `1 receipt`, `2 receipts`. */
export const pluralize = (n: number, one: string, many = `${one}s`): string =>
  `${formatCount(n)} ${n === 1 ? one : many}`;

/** Shows hex that can break after every eight digits. */
export const groupHex = (hex: string): View =>
  hex.match(/.{1,8}/g)?.flatMap((group, n) => n === 0 ? [group] : [h("wbr"), group]);

/** Shows a time like `2026-07-01 12:00:00 UTC`; other text unchanged. */
export function showTime(iso: string): View {
  const date = new Date(iso);
  if (!/^\d{4}-\d\d-\d\dT/.test(iso) || Number.isNaN(date.getTime())) return showText(iso, 40);
  const utc = date.toISOString();
  return h("time", { datetime: utc }, `${utc.slice(0, 10)} ${utc.slice(11, 19)} UTC`);
}

/** Shows day and time on two lines; other text unchanged. */
export function showStackedTime(iso: string): View {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return showText(iso, 40);
  const utc = date.toISOString();
  const clock = h("span", { class: "clock" }, `${utc.slice(11, 19)} UTC`);
  return h("time", { datetime: utc }, `${utc.slice(0, 10)} `, clock);
}

/**
 * Breaks canonical JSON into indented lines. Tokens stay unchanged, so `1.0` does not become `1`.
 *
 * @param json canonical, and well-formed
 */
export function indentJson(json: string): string {
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  return json.replace(TOKEN, (token) => {
    switch (token) {
      case "{":
      case "[":
        depth++;
        return token + line();
      case "}":
      case "]":
        depth--;
        return line() + token;
      case ",":
        return token + line();
      case ":":
        return ": ";
      default:
        return token; // a string, or an empty object or array
    }
  });
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]/g;
