import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { IncidentPicture } from "../../contract/domain/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { planTimeline } from "../../ledger/stories/mod.ts";
import type { MediaFiles } from "./files.ts";
import { drawPictures, type Picture } from "./pictures.ts";
import { type Cue, speak } from "./speech.ts";
import type { MediaTools, RunBounds } from "./tools.ts";

/** A scene to make. */
export interface SceneScript {
  /** From 1. */
  readonly n: number;
  /** Number of scenes of the film. */
  readonly total: number;
  readonly heading: string;
  readonly text: string;
  /** Path of a picture, PNG or JPEG, as others sent it. */
  readonly image?: string | undefined;
  /** Content of its picture in place of the words; captions have those. */
  readonly incident?: IncidentPicture | undefined;
  /** Speech that is there already; absent: the text is spoken. */
  readonly voice?: { readonly path: string; readonly cues: readonly Cue[] } | undefined;
  /** True: a face speaks, whose mouth follows the voice's loudness. */
  readonly hasFace: boolean;
  readonly width: number;
  readonly height: number;
}

/** Length of a scene and when its sentences are said. */
export interface Scene {
  readonly seconds: number;
  readonly cues: readonly Cue[];
}

/** A scene that was made, with its kept files. */
export interface MadeScene extends Scene {
  readonly videoSha256: string;
  readonly soundSha256: string;
}

/** A picture of a scene and how many frames it stays. */
interface Shot {
  readonly cue: number;
  readonly mouth: number;
  readonly frames: number;
}

/** Frames of a second of film. */
export const FRAMES_PER_SECOND = 25;
/** A mouth moves every other frame. */
const MOUTH_FRAMES = 2;
const MOUTH_STEPS = 4;
const SECONDS = 600;
const MIN_SECONDS = 1;
/** Silence at the end of a scene. */
const TAIL_SECONDS = 0.4;
const MAX_IMAGE_PIXELS = 880;
/** A face has up to five for each sentence. */
const MAX_PICTURES = 1_000;
const WAV_HEAD_BYTES = 44;

/** Makes a scene: the voice, a picture for each sentence, and the film of them. The same script gives the same bytes. */
export async function makeScene(
  { tools, files }: { readonly tools: MediaTools; readonly files: MediaFiles },
  script: SceneScript,
  { cwd, signal }: Omit<RunBounds, "seconds">,
): Promise<MadeScene> {
  const bounds = { cwd, signal, seconds: SECONDS };
  const spoken = join(cwd, "spoken.wav");
  const { path, cues, length } = script.voice
    ? { ...script.voice, length: script.voice.cues.at(-1)?.end ?? 0 }
    : await narrate(tools, script, spoken, { cwd, signal });
  const frames = Math.ceil(Math.max(MIN_SECONDS, length + TAIL_SECONDS) * FRAMES_PER_SECOND);
  const seconds = frames / FRAMES_PER_SECOND;

  const sound = join(cwd, "sound.wav");
  await tools.ffmpeg([
    ...["-f", "wav", "-i", path, "-af", "apad", "-t", String(seconds), "-ac", "1", "-ar", "24000"],
    ...["-c:a", "pcm_s16le", "-map_metadata", "-1", "-fflags", "+bitexact", "-f", "wav", sound],
  ], bounds);
  const mouths = script.hasFace ? await readMouths(sound, frames) : [];
  const shots = planShots(cues, mouths, frames);
  const list = await drawShots(tools, { script, cues, shots }, { cwd, signal });
  const video = join(cwd, "scene.mp4");
  await tools.ffmpeg([
    ...["-f", "concat", "-i", list, "-an", "-vf", `fps=${FRAMES_PER_SECOND},format=yuv420p`],
    ...[
      "-frames:v",
      String(frames),
      "-c:v",
      "libx264",
      "-preset",
      "veryfast",
      "-tune",
      "stillimage",
    ],
    ...["-crf", "20", "-threads", "1", "-video_track_timescale", "12800", "-map_metadata", "-1"],
    ...["-fflags", "+bitexact", "-flags:v", "+bitexact", video],
  ], bounds);
  const [{ sha256: videoSha256 }, { sha256: soundSha256 }] = [
    await files.keep(video),
    await files.keep(sound),
  ];
  return { seconds, cues, videoSha256, soundSha256 };
}

async function narrate(
  tools: MediaTools,
  { text, heading }: SceneScript,
  out: string,
  bounds: Omit<RunBounds, "seconds">,
) {
  const { cues } = await speak(tools, { text: text.trim() || heading, out }, bounds);
  return { path: out, cues, length: cues.at(-1)?.end ?? 0 };
}

/** Returns how wide the mouth is open, every other frame: the loudness of that time, in steps. */
async function readMouths(sound: string, frames: number): Promise<number[]> {
  const file = await open(sound);
  try {
    const samples = (await file.readFile()).subarray(WAV_HEAD_BYTES);
    const size = 2 * Math.floor(24_000 / FRAMES_PER_SECOND) * MOUTH_FRAMES;
    const levels = Array.from({ length: Math.ceil(frames / MOUTH_FRAMES) }, (_, index) => {
      const part = samples.subarray(index * size, (index + 1) * size);
      let squares = 0;
      for (let at = 0; at + 1 < part.length; at += 2) squares += part.readInt16LE(at) ** 2;
      return Math.sqrt(squares / Math.max(1, part.length / 2));
    });
    const loudest = Math.max(...levels, 1);
    return levels.map((level) =>
      Math.min(MOUTH_STEPS, Math.round(MOUTH_STEPS * 1.4 * level / loudest))
    );
  } finally {
    await file.close();
  }
}

/** Returns the pictures of a scene in order: a new one where a sentence begins, and where the mouth moves. */
function planShots(cues: readonly Cue[], mouths: readonly number[], frames: number): Shot[] {
  const shots: Shot[] = [];
  const starts = cues.map(({ start }) => Math.round(start * FRAMES_PER_SECOND));
  for (let frame = 0; frame < frames; frame++) {
    const cue = Math.max(0, starts.findLastIndex((start) => start <= frame));
    const mouth = mouths[Math.floor(frame / MOUTH_FRAMES)] ?? 0;
    const last = shots.at(-1);
    if (last?.cue === cue && last.mouth === mouth) {
      shots[shots.length - 1] = { ...last, frames: last.frames + 1 };
    } else shots.push({ cue, mouth, frames: 1 });
  }
  return shots;
}

/** Draws each different picture once, and returns the list that tells ffmpeg how long each stays. */
async function drawShots(
  tools: MediaTools,
  { script, cues, shots }: {
    readonly script: SceneScript;
    readonly cues: readonly Cue[];
    readonly shots: readonly Shot[];
  },
  { cwd, signal }: Omit<RunBounds, "seconds">,
): Promise<string> {
  const { n, total, heading, hasFace, width, height, incident } = script;
  const plan = incident && planTimeline(incident.timeline);
  const image = script.image && await takeImage(tools, script.image, { cwd, signal });
  const nameOf = ({ cue, mouth }: Shot) => `picture-${cue}-${mouth}.png`;
  const pictures = new Map<string, Picture>();
  for (const shot of shots) {
    pictures.set(nameOf(shot), {
      out: join(cwd, nameOf(shot)),
      width,
      height,
      label: hasFace ? "Animation" : `${n} of ${total}`,
      title: heading,
      footer: hasFace
        ? "A drawn face, moved by the loudness of a synthetic voice"
        : incident
        ? `Sealed in receipt ${incident.receipt_id}`
        : "sealoop",
      lines: plan ? ["", ""] : [cues[shot.cue - 1]?.text ?? "", cues[shot.cue]?.text ?? ""],
      ...(plan ? { timeline: plan } : {}),
      progress: (n - 1 + (shot.cue + 1) / Math.max(1, cues.length)) / total,
      ...(image ? { image } : {}),
      ...(hasFace ? { mouth: shot.mouth } : {}),
    });
  }
  if (pictures.size > MAX_PICTURES) {
    throw new Problem(
      "TooLarge",
      `Scene ${n} needs ${pictures.size} pictures; ${MAX_PICTURES} are possible: send a shorter text`,
    );
  }
  await drawPictures(tools, [...pictures.values()], { cwd, signal });
  const lines = shots.map((shot) =>
    `file '${nameOf(shot)}'\nduration ${shot.frames / FRAMES_PER_SECOND}\n`
  );
  const last = `file '${nameOf(shots.at(-1)!)}'\n`; // the last duration counts only if a file follows
  const list = join(cwd, "pictures.txt");
  await writeFile(list, ["ffconcat version 1.0\n", ...lines, last].join(""));
  return list;
}

/** Decodes a picture that others sent into a PNG of bounded size. @throws {Problem} `UnsupportedMediaType` */
async function takeImage(
  tools: MediaTools,
  path: string,
  { cwd, signal }: Omit<RunBounds, "seconds">,
): Promise<string> {
  const out = join(cwd, "image.png");
  const demuxer = await sniffImage(path);
  const scale = `scale='min(${MAX_IMAGE_PIXELS},iw)':'min(${MAX_IMAGE_PIXELS},ih)'` +
    ":force_original_aspect_ratio=decrease";
  try {
    if (!demuxer) throw new Error("neither PNG nor JPEG");
    await tools.ffmpeg(
      ["-f", demuxer, "-i", path, "-frames:v", "1", "-vf", scale, "-f", "image2", out],
      { cwd, signal, seconds: 60 },
    );
    return out;
  } catch (cause) {
    signal?.throwIfAborted();
    throw new Problem(
      "UnsupportedMediaType",
      "A scene's image is no PNG or JPEG that can be read",
      {
        cause,
      },
    );
  }
}

async function sniffImage(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
    const head = buffer.toString("latin1");
    if (head === "\x89PNG\r\n\x1a\n") return "png_pipe";
    return head.startsWith("\xff\xd8\xff") ? "jpeg_pipe" : undefined;
  } finally {
    await file.close();
  }
}
