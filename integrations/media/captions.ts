import type { Cue } from "./speech.ts";

const MAX_LINE = 42;

/** Prints captions as WebVTT. */
export function printVtt(cues: readonly Cue[]): string {
  const blocks = cues.map(({ text, start, end }) =>
    `${timestamp(start, ".")} --> ${timestamp(end, ".")}\n${escapeMarkup(wrap(text))}\n`
  );
  return ["WEBVTT\n", ...blocks].join("\n");
}

/**
 * Prints captions as SubRip. It has no way to escape: what players take for markup becomes a character that looks alike.
 */
export function printSrt(cues: readonly Cue[]): string {
  const plain = (text: string) => text.replace(/</g, "‹").replace(/>/g, "›").replace(/\\/g, "/");
  return cues.map(({ text, start, end }, index) =>
    `${index + 1}\n${timestamp(start, ",")} --> ${timestamp(end, ",")}\n${wrap(plain(text))}\n`
  ).join("\n");
}

function escapeMarkup(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** Breaks a text into as few lines of at most 42 characters as possible, of about the same length. */
function wrap(text: string): string {
  const { length } = breakLines(text, MAX_LINE);
  let width = Math.ceil(text.length / length);
  while (width < MAX_LINE && breakLines(text, width).length > length) width++;
  return breakLines(text, width).join("\n");
}

/** Breaks a text into lines at blanks. A word that is longer than a line has one of its own. */
function breakLines(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)!;
    if (last && last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
}

function timestamp(seconds: number, mark: string): string {
  const all = Math.round(seconds * 1_000);
  const part = (value: number, length = 2) => String(Math.floor(value)).padStart(length, "0");
  const [h, m, s] = [all / 3_600_000, all / 60_000 % 60, all / 1_000 % 60];
  return `${part(h)}:${part(m)}:${part(s)}${mark}${part(all % 1_000, 3)}`;
}
