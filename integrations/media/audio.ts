import { open, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "../../contract/mod.ts";
import { ChildFailed } from "./_child.ts";
import type { Cue } from "./speech.ts";
import type { MediaTools, RunBounds } from "./tools.ts";

/** Limits of sound that others send. */
export const AUDIO_LIMITS = { bytes: 25 * 1024 * 1024, seconds: 30 * 60 } as const;
/** The program that transcribes, with its version. */
export const TRANSCRIPTION_ENGINE = "moonshine-voice 0.0.73 tiny-en";

/** A chapter of a recording. */
export interface Chapter {
  readonly title: string;
  readonly start: number;
  readonly end: number;
}

/** Tags of a recording. */
export interface Tags {
  readonly title: string;
  readonly receiptId: string;
  readonly chapters: readonly Chapter[];
}

const LOUDNESS = "I=-16:TP=-1.5:LRA=11";
const DECODE_SECONDS = 180;
const TRANSCRIBE_SECONDS = 900;
/** Bytes of a second of sound of 16 kHz, mono, 16 bits. */
const BYTES_PER_SECOND = 32_000;
const HEAD_BYTES = 44;

/** Demuxers by how their files begin: the position and the bytes. */
const KINDS: readonly (readonly [demuxer: string, at: number, bytes: string])[] = [
  ["wav", 8, "WAVE"],
  ["flac", 0, "fLaC"],
  ["ogg", 0, "OggS"],
  ["mp3", 0, "ID3"],
  ["mov", 4, "ftyp"],
  ["matroska", 0, "\x1a\x45\xdf\xa3"],
  ["mp3", 0, "\xff\xfb"],
  ["mp3", 0, "\xff\xf3"],
  ["mp3", 0, "\xff\xf2"],
  ["mp3", 0, "\xff\xfa"],
  ["aac", 0, "\xff\xf1"],
  ["aac", 0, "\xff\xf9"],
];

/** Returns the demuxer for a file by its first bytes, whatever its name says; undefined: it is no known kind of sound. */
async function sniffAudio(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    const head = buffer.toString("latin1", 0, bytesRead);
    return KINDS.find(([, at, bytes]) => head.startsWith(bytes, at))?.[0];
  } finally {
    await file.close();
  }
}

/**
 * Decodes sound that others have sent into a WAV file of 16 kHz, mono, reading no more than its limits.
 *
 * @returns its length, seconds
 * @throws {Problem} `UnsupportedMediaType`, `TooLarge`
 */
export async function decodeAudio(
  tools: MediaTools,
  { source, out }: { readonly source: string; readonly out: string },
  bounds: Omit<RunBounds, "seconds">,
): Promise<number> {
  if ((await stat(source)).size > AUDIO_LIMITS.bytes) {
    throw new Problem("TooLarge", "The file is too large: it may have 25 MiB");
  }
  const demuxer = await sniffAudio(source);
  if (!demuxer) throw new Problem("UnsupportedMediaType", UNKNOWN_KIND);
  const longest = String(AUDIO_LIMITS.seconds + 1);
  try {
    await tools.ffmpeg([
      ...["-f", demuxer, "-t", longest, "-i", source, "-map", "0:a:0", "-vn", "-sn", "-dn"],
      ...["-t", longest, "-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le", "-f", "wav"],
      ...["-fflags", "+bitexact", "-map_metadata", "-1", out],
    ], { ...bounds, seconds: DECODE_SECONDS });
  } catch (error) {
    if (!(error instanceof ChildFailed)) throw error;
    throw new Problem("UnsupportedMediaType", "The file has no sound that can be read", {
      cause: error,
    });
  }
  const seconds = ((await stat(out)).size - HEAD_BYTES) / BYTES_PER_SECOND;
  if (seconds > AUDIO_LIMITS.seconds) {
    throw new Problem("TooLarge", "The recording is too long: it may last 30 minutes");
  }
  return seconds;
}

const UNKNOWN_KIND =
  "The file is no sound of a known kind: send WAV, FLAC, Ogg, MP3, AAC, MP4 or WebM";

/** Writes down what is said in a WAV file of 16 kHz. Where nobody speaks there are no segments. */
export async function transcribe(
  tools: MediaTools,
  audio: string,
  bounds: Omit<RunBounds, "seconds">,
): Promise<readonly Cue[]> {
  const { segments } = await tools.python<{ segments: readonly Cue[] }>("transcribe", { audio }, {
    ...bounds,
    seconds: TRANSCRIBE_SECONDS,
  });
  return segments;
}

/** Returns the filter that brings a recording to −16 LUFS, from a measurement of the whole. */
export async function loudnessFilter(
  tools: MediaTools,
  source: readonly string[],
  bounds: RunBounds,
): Promise<string> {
  const { stderr } = await tools.ffmpeg(
    [...source, "-vn", "-af", `loudnorm=${LOUDNESS}:print_format=json`, "-f", "null", "-"],
    bounds,
  );
  const found = /\{[^{}]*"input_i"[^{}]*\}/.exec(stderr)?.[0] ?? "{}";
  const { input_i, input_tp, input_lra, input_thresh, target_offset } = JSON.parse(found);
  const numbers = [input_i, input_tp, input_lra, input_thresh, target_offset].map(Number);
  if (!numbers.every(Number.isFinite)) return "anull"; // silence has no loudness
  const [i, tp, lra, thresh, offset] = numbers;
  return `loudnorm=${LOUDNESS}:linear=true:measured_I=${i}:measured_TP=${tp}:measured_LRA=${lra}:` +
    `measured_thresh=${thresh}:offset=${offset}`;
}

/** Encodes a WAV file as MP3 at −16 LUFS, with title, chapters and the receipt's id in its tags. */
export async function encodeMp3(
  tools: MediaTools,
  { source, out, tags }: { readonly source: string; readonly out: string; readonly tags: Tags },
  bounds: RunBounds,
): Promise<void> {
  const metadata = join(bounds.cwd, "tags.txt");
  await writeFile(metadata, printTags(tags));
  const filter = await loudnessFilter(tools, ["-i", source], bounds);
  await tools.ffmpeg([
    ...["-f", "wav", "-i", source, "-f", "ffmetadata", "-i", metadata],
    ...["-map", "0:a", "-map_metadata", "1", "-map_chapters", "1", "-af", filter],
    ...["-ar", "44100", "-ac", "1", "-c:a", "libmp3lame", "-b:a", "96k", "-id3v2_version", "3"],
    ...["-fflags", "+bitexact", "-flags:a", "+bitexact", out],
  ], bounds);
}

/** Prints tags in the form of ffmpeg's metadata files. */
function printTags({ title, receiptId, chapters }: Tags): string {
  const line = (name: string, value: string) =>
    `${name}=${value.replace(/[\r\n\0]+/g, " ").replace(/[=;#\\]/g, "\\$&")}`;
  const lines = [";FFMETADATA1", line("title", title), line("artist", "sealoop")];
  lines.push(line("comment", `Receipt ${receiptId}`));
  for (const { title, start, end } of chapters) {
    const [from, to] = [start, end].map((seconds) => Math.round(seconds * 1_000));
    lines.push("[CHAPTER]", "TIMEBASE=1/1000", `START=${from}`, `END=${to}`, line("title", title));
  }
  return `${lines.join("\n")}\n`;
}
