import { h, type View } from "./view.ts";

/** Most characters of a receipt's text that a page shows; the whole is in the record. */
const MOST_SHOWN = 2000;

/**
 * Characters that one can't see, or that turn round how others are read: controls, marks of direction, spaces without
 * width, tags. Joiners stay, as scripts and emoji need them.
 */
const ODD =
  // deno-lint-ignore no-control-regex -- these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * Text of a receipt, which is anyone's: shown as it is, with what can't be seen named, cut where it is long, and unable
 * to change in which direction its surroundings are read.
 *
 * @param most characters that are shown
 */
export function legible(text: string, most = MOST_SHOWN): View {
  const whole = text.toWellFormed();
  const shown = whole.length > most ? whole.slice(0, most).toWellFormed() : whole;
  const views: View[] = [];
  let at = 0;
  for (const { 0: character, index } of shown.matchAll(ODD)) {
    views.push(shown.slice(at, index), h("span", { class: "odd" }, codePoint(character)));
    at = index + character.length;
  }
  views.push(shown.slice(at));
  const rest = whole.length - shown.length;
  if (rest > 0) views.push(h("span", { class: "cut" }, ` … and ${count(rest)} characters more`));
  return h("bdi", {}, views);
}

const codePoint = (character: string) =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;

/** A number with separators: `12,345`. */
export const count = (n: number): string => n.toLocaleString("en");

/** `1 receipt`, `2 receipts`. */
export const counted = (n: number, one: string, many = `${one}s`): string =>
  `${count(n)} ${n === 1 ? one : many}`;

/** Hex in groups of eight, which people can compare. */
export const grouped = (hex: string): View =>
  hex.match(/.{1,8}/g)?.flatMap((group, n) => n === 0 ? [group] : [h("wbr"), group]);

/** A time as it stands in a receipt, and short: `2026-07-01 12:00:00 UTC`. Other text is shown as it is. */
export function time(iso: string): View {
  const date = new Date(iso);
  if (!/^\d{4}-\d\d-\d\dT/.test(iso) || Number.isNaN(date.getTime())) return legible(iso, 40);
  const utc = date.toISOString();
  return h("time", { datetime: utc }, `${utc.slice(0, 10)} ${utc.slice(11, 19)} UTC`);
}

/** A time on two lines: the day, and below it the time of the day. Other text is shown as it is. */
export function stamp(iso: string): View {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return legible(iso, 40);
  const utc = date.toISOString();
  const clock = h("span", { class: "clock" }, `${utc.slice(11, 19)} UTC`);
  return h("time", { datetime: utc }, `${utc.slice(0, 10)} `, clock);
}

/**
 * Canonical JSON on several lines; its tokens stay as they are, so that `1.0` is not shown as `1`.
 *
 * @param json canonical, and well-formed
 */
export function indented(json: string): string {
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
        return token; // a string, or something empty
    }
  });
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]/g;
