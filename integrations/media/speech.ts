import type { MediaTools, RunBounds } from "./tools.ts";

/** A sentence and when it is said, seconds from the start. */
export interface Cue {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Spoken text. */
export interface Speech {
  readonly sample_rate: number;
  readonly seconds: number;
  readonly cues: readonly Cue[];
}

/** Name of the only voice whose model is in the package, and of the program that speaks. */
export const VOICES = ["heart"] as const;
/** The program that speaks, with its version. */
export const SPEECH_ENGINE = "hibari-tts 0.2.1";
/** Longest text of a caption; longer sentences are spoken in parts. */
const MAX_CUE_LENGTH = 110;
const PAUSE_MS = 280;
const SECONDS_PER_CHARACTER = 0.02;
const MIN_RUN_SECONDS = 60;

/** Speaks a text into a WAV file of 24 kHz. The same text gives the same bytes. */
export async function speak(
  tools: MediaTools,
  { text, out }: { readonly text: string; readonly out: string },
  bounds: Omit<RunBounds, "seconds">,
): Promise<Speech> {
  const seconds = MIN_RUN_SECONDS + Math.ceil(text.length * SECONDS_PER_CHARACTER);
  const request = { out, sentences: splitSentences(text), pause_ms: PAUSE_MS };
  return await tools.python<Speech>("speak", request, { ...bounds, seconds });
}

/** Returns whether the voice has sounds for a text: for letters of most scripts it has none, and would leave them out. */
export function isSpeakable(text: string): boolean {
  return /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}0-9]/u.test(text);
}

/** Splits a text into sentences, and long sentences where they pause, so that each fits on the screen. */
export function splitSentences(text: string): string[] {
  return text.split(/\n+/).flatMap((paragraph) => segment(paragraph))
    .map((part) => part.trim().replace(/\s+/g, " "))
    .filter((part) => /[\p{L}\p{N}]/u.test(part))
    .flatMap((sentence) => splitLong(sentence));
}

/** Splits a paragraph where a sentence ends and a blank follows: a question mark in an address ends none. */
function segment(paragraph: string): string[] {
  const segments = new Intl.Segmenter("en", { granularity: "sentence" }).segment(paragraph);
  const sentences: string[] = [];
  for (const { segment } of segments) {
    const last = sentences.at(-1);
    if (last === undefined || /\s$/.test(last)) sentences.push(segment);
    else sentences[sentences.length - 1] = last + segment;
  }
  return sentences;
}

/** Cuts at the last comma, semicolon or colon that leaves a readable piece, else at a blank near the middle. */
function splitLong(sentence: string): string[] {
  if (sentence.length <= MAX_CUE_LENGTH) return [sentence];
  const head = sentence.slice(0, MAX_CUE_LENGTH + 1);
  const pause = Math.max(...[", ", "; ", ": ", " – "].map((mark) => head.lastIndexOf(mark)));
  const parts = Math.ceil(sentence.length / MAX_CUE_LENGTH);
  const middle = head.indexOf(" ", sentence.length / parts);
  const blank = middle > 0 ? middle : head.lastIndexOf(" ");
  const cut = pause > MAX_CUE_LENGTH / 3 ? pause + 1 : blank;
  const at = cut > 0 ? cut : MAX_CUE_LENGTH;
  return [sentence.slice(0, at).trim(), ...splitLong(sentence.slice(at).trim())];
}
