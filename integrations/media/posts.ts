import type { Chapter } from "./audio.ts";
import { type Cue, splitSentences } from "./speech.ts";

/** A part of a post: what stands under one heading. */
export interface Section {
  /** Empty: the beginning of a post, above its first heading. */
  readonly heading: string;
  readonly text: string;
}

const HEADING = /^#{1,6}\s+(.*?)\s*#*$/;
const CODE = "`{3,}[^\\n]*\\n[\\s\\S]*?(`{3,}|$)";

/** Splits a post, Markdown or plain text, into its sections, without markup that nobody would say. */
export function readSections(text: string): Section[] {
  const sections: { heading: string; lines: string[] }[] = [{ heading: "", lines: [] }];
  for (const line of text.replace(new RegExp(CODE, "g"), "\n").split(/\r?\n/)) {
    const heading = HEADING.exec(line)?.[1];
    if (heading !== undefined) sections.push({ heading: plainWords(heading), lines: [] });
    else sections.at(-1)!.lines.push(plainWords(line));
  }
  return sections.map(({ heading, lines }) => ({ heading, text: joinLines(lines) }))
    .filter(({ heading, text }) => heading !== "" || text !== "");
}

/** Returns a line without Markdown: marks of lists, links, emphasis and code. */
function plainWords(line: string): string {
  return line.replace(/^\s*(?:[-*+]|\d+\.|>)\s+/, "").replace(/^\s*\|?[-: |]+\|?\s*$/, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/<[^>]{0,200}>/g, "").replace(
      /[*_`|]+/g,
      " ",
    )
    .replace(/\s+/g, " ").trim();
}

/** Joins lines of a paragraph; a blank line ends one. Every line of a list is a paragraph that ends as a sentence does. */
function joinLines(lines: readonly string[]): string {
  return lines.join("\n").split(/\n{2,}/).map((paragraph) => paragraph.trim()).filter(Boolean)
    .join("\n");
}

/** Returns what is said of a post: its title, and each heading before its text. */
export function textToSpeak(title: string, sections: readonly Section[]): string {
  const sentence = (text: string) => /[.!?:…]$/.test(text) ? text : `${text}.`;
  const parts = sections.flatMap(({ heading, text }) => [heading && sentence(heading), text]);
  return [sentence(title), ...parts].filter(Boolean).join("\n");
}

/** Returns the chapters of a spoken post: one for each heading, and the beginning. */
export function planChapters(
  title: string,
  sections: readonly Section[],
  { cues, seconds }: { readonly cues: readonly Cue[]; readonly seconds: number },
): Chapter[] {
  const starts = [{ title, start: 0 }];
  let from = 1;
  for (const { heading } of sections) {
    const first = heading && splitSentences(`${heading}.`.replace(/([.!?:…])\.$/, "$1"))[0];
    const at = first ? cues.findIndex(({ text }, index) => index >= from && text === first) : -1;
    if (at < 0) continue;
    starts.push({ title: heading, start: cues[at]!.start });
    from = at + 1;
  }
  return starts.map((chapter, n) => ({ ...chapter, end: starts[n + 1]?.start ?? seconds }));
}
