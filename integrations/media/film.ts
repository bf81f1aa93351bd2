import { copyFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "../../contract/mod.ts";
import type { FilmFields } from "../../contract/records/mod.ts";
import type { MadeScene, Scene } from "./scene.ts";
import { FRAMES_PER_SECOND } from "./scene.ts";
import { loudnessFilter } from "./audio.ts";
import { printSrt, printVtt } from "./captions.ts";
import type { MediaFiles } from "./files.ts";
import { drawPictures } from "./pictures.ts";
import type { Cue } from "./speech.ts";
import type { MediaTools, RunBounds } from "./tools.ts";

/** Scenes to put together. */
export interface FilmOrder extends Omit<FilmFields, "format"> {
  readonly scenes: readonly MadeScene[];
  readonly width: number;
  readonly height: number;
  /** Line at the end of the poster. */
  readonly footer: string;
}

/** A film and what belongs to it. Its files are in the folder that it was made in. */
export interface Film {
  readonly mp4: string;
  readonly poster: string;
  readonly vtt: string;
  readonly srt: string;
  readonly seconds: number;
}

/** Properties of a film, as ffmpeg reads them. */
export interface FilmProbe {
  readonly seconds: number;
  readonly video: string;
  readonly audio: string;
  readonly hasCaptions: boolean;
}

const SECONDS = 900;
const BITEXACT = ["-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact"];

/** Puts scenes together: the same scenes give the same bytes. */
export async function assembleFilm(
  { tools, files }: { readonly tools: MediaTools; readonly files: MediaFiles },
  { title, scenes, width, height, captions, footer }: FilmOrder,
  { cwd, signal }: Omit<RunBounds, "seconds">,
): Promise<Film> {
  const bounds = { cwd, signal, seconds: SECONDS };
  const name = (n: number, kind: string) => `scene-${n + 1}.${kind}`;
  for (const [n, { videoSha256, soundSha256 }] of scenes.entries()) {
    await symlink(await requireFile(files, videoSha256), join(cwd, name(n, "mp4")));
    await symlink(await requireFile(files, soundSha256), join(cwd, name(n, "wav")));
  }
  const list = async (kind: string) => {
    const path = join(cwd, `${kind}.txt`);
    const lines = scenes.map((_, n) => `file '${name(n, kind)}'\n`);
    await writeFile(path, ["ffconcat version 1.0\n", ...lines].join(""));
    return ["-f", "concat", "-i", path];
  };
  const [video, sound] = [await list("mp4"), await list("wav")];
  const cues = joinCues(scenes);
  const [mp4, poster, srt] = ["film.mp4", "poster.png", "captions.srt"].map((file) =>
    join(cwd, file)
  );
  const texts = { vtt: printVtt(cues), srt: printSrt(cues) };
  await writeFile(srt!, texts.srt);
  const filter = await loudnessFilter(tools, sound, bounds);
  const embedded = captions && cues.length > 0;
  await tools.ffmpeg([
    ...[...video, ...sound, ...(embedded ? ["-f", "srt", "-i", srt!] : [])],
    ...["-map", "0:v", "-map", "1:a", ...(embedded ? ["-map", "2:s"] : [])],
    ...[
      "-c:v",
      "copy",
      "-af",
      filter,
      "-ar",
      "48000",
      "-c:a",
      "aac",
      "-b:a",
      "128k",
      "-threads",
      "1",
    ],
    ...(embedded ? ["-c:s", "mov_text", "-metadata:s:s:0", "language=eng"] : []),
    ...["-map_metadata", "-1", ...BITEXACT, "-movflags", "+faststart", mp4!],
  ], bounds);
  await drawPictures(tools, [{ out: poster!, width, height, title, footer }], { cwd, signal });
  return { mp4: mp4!, poster: poster!, ...texts, seconds: sum(scenes) };
}

/** Reads the properties of a film. */
export async function probeFilm(
  tools: MediaTools,
  path: string,
  { cwd, signal }: Omit<RunBounds, "seconds">,
): Promise<FilmProbe> {
  const copy = join(cwd, "probed.mp4");
  await copyFile(path, copy);
  const { stderr } = await tools.ffmpeg(
    ["-f", "mov", "-i", copy, "-map", "0:v", "-c", "copy", "-f", "null", "-"],
    { cwd, signal, seconds: SECONDS },
  );
  const [, h, m, s] = /Duration: (\d+):(\d+):([\d.]+)/.exec(stderr) ?? [];
  const stream = (kind: string) => new RegExp(`Stream #0:\\d.*?: ${kind}: (.*)`).exec(stderr)?.[1];
  return {
    seconds: Number(h) * 3_600 + Number(m) * 60 + Number(s),
    video: stream("Video") ?? "",
    audio: stream("Audio") ?? "",
    hasCaptions: stream("Subtitle") !== undefined,
  };
}

/** Moves the cues of each scene to where the scene begins in the film. */
function joinCues(scenes: readonly Pick<Scene, "seconds" | "cues">[]): readonly Cue[] {
  return scenes.flatMap(({ cues }, n) => {
    const before = sum(scenes.slice(0, n));
    return cues.map(({ text, start, end }) => ({ text, start: before + start, end: before + end }));
  });
}

function sum(scenes: readonly Pick<Scene, "seconds">[]): number {
  const frames = scenes.reduce(
    (all, { seconds }) => all + Math.round(seconds * FRAMES_PER_SECOND),
    0,
  );
  return frames / FRAMES_PER_SECOND;
}

async function requireFile(files: MediaFiles, sha256: string): Promise<string> {
  const path = await files.find(sha256);
  if (!path) throw new Problem("Conflict", `The file ${sha256} of a scene is missing`);
  return path;
}
