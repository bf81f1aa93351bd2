/**
 * Texts and times of a postmortem in Markdown. All that records have of others goes through {@linkcode escape} or
 * {@linkcode code}, which mark it as quoted until {@linkcode compose} takes the marks out.
 */
import { ComposedText, type Span, type Text } from "../../../contract/domain/mod.ts";

const MAX_CODE_LENGTH = 200;
/** Stand around what is quoted. They are no characters of Unicode, but for use within a program. */
const [BEGIN, END] = ["\uFDD0", "\uFDD1"];
const MARKS = new RegExp(`[${BEGIN}${END}]`, "g");
const QUOTE = new RegExp(`${BEGIN}([^${END}]*)${END}`, "g");

const quote = (text: string): string => `${BEGIN}${text.replace(MARKS, "")}${END}`;

/** Tells apart the platform's own words and what they quote. */
export function compose(markdown: string): ComposedText {
  const quoted = [...markdown.matchAll(QUOTE)].map(({ index, 1: text }, n): Span => {
    const from = index - 2 * n; // two marks are taken out for each quote before
    return [from, from + text!.length];
  });
  return new ComposedText(markdown.replace(MARKS, ""), quoted);
}

/** Escapes text of people to one line that can't be Markdown, HTML or the end of a table cell. */
export function escape(text: string): string {
  return quote(escapeMarkdown(text));
}

/** Escapes a sentence of the platform, whose quotes stay quotes. */
export function tell(text: Text): string {
  if (typeof text === "string") return escape(text);
  const { text: plain, quoted } = text;
  let end = 0;
  const parts = quoted.map(([from, to]) => {
    const own = escapeMarkdown(plain.slice(end, from));
    end = to;
    return own + escape(plain.slice(from, to));
  });
  return parts.join("") + escapeMarkdown(plain.slice(end));
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|!]/g, "\\$&").replace(/[\r\n]+/g, " ");
}

/** Formats a value as a code span. */
export function code(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return `\`${quote(text.replace(/[`|\n\r]/g, " ").slice(0, MAX_CODE_LENGTH))}\``;
}

/** Returns a code as words: `status 500`. */
export function words(value: unknown): string {
  return escape(String(value ?? "").replaceAll("_", " "));
}

/** Returns escaped text that ends with a full stop, where it has no other end. */
export function sentence(text: string): string {
  const escaped = escapeMarkdown(text.trim().replace(MARKS, ""));
  return quote(/[.!?:…]["”)]?$/.test(escaped) ? escaped : `${escaped}.`);
}

/** Returns texts joined for a sentence: `a, b and c`. */
export function join(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

/** Returns a number and a noun: `1 step`, `2 steps`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** Formats milliseconds so exactly that no two events seem to coincide: `0:00.236`, `8:46.901`, `1:08:46.901`. */
export function formatOffset(ms: number): string {
  const hours = Math.floor(ms / 3_600_000);
  const minutes = String(Math.floor(ms / 60_000) % 60);
  const seconds = ((ms % 60_000) / 1_000).toFixed(3).padStart(6, "0");
  return hours > 0 ? `${hours}:${minutes.padStart(2, "0")}:${seconds}` : `${minutes}:${seconds}`;
}

/** Formats the time between two moments: `236 ms`, `46.9 s`, `12 min`, `3.5 h`. */
export function formatDuration(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}
