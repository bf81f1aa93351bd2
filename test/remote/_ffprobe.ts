/** FFmpeg's own ffprobe, from npm: a build by others than the ffmpeg that makes the files. */
import { execFile } from "node:child_process";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { installNpm } from "../_download.ts";

const run = promisify(execFile);
/** Folder of the program, once it is installed. */
let folder: string;

/** Installs ffprobe once. @returns the reason why it can't be had here; undefined: it is there */
export async function installFfprobe(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return "ffprobe is for Linux x64";
  const installed = await installNpm("ffprobe");
  if ("missing" in installed) return installed.missing;
  folder = join(installed.folder, "node_modules", "@ffprobe-installer", "linux-x64");
  await chmod(join(folder, "ffprobe"), 0o755);
  return undefined;
}

/** A file, as ffprobe reads it. */
export interface ProbedFile {
  readonly format: {
    readonly format_name: string;
    readonly tags?: Readonly<Record<string, string>>;
  };
  readonly streams: readonly Readonly<Record<string, string | number>>[];
  readonly chapters: readonly { readonly tags: { readonly title: string } }[];
}

/** Reads a file. */
export async function probe(path: string): Promise<ProbedFile> {
  const shown = ["-show_format", "-show_streams", "-show_chapters"];
  const { stdout } = await run(join(folder, "ffprobe"), [
    "-v",
    "error",
    "-of",
    "json",
    ...shown,
    path,
  ]);
  return JSON.parse(stdout);
}

/** Returns when the packets of the captions in a film begin, seconds, without the empty ones between them. */
export async function probeCaptions(path: string): Promise<number[]> {
  const only = ["-select_streams", "s:0", "-show_entries", "packet=pts_time,size"];
  const { stdout } = await run(join(folder, "ffprobe"), [
    "-v",
    "error",
    "-of",
    "json",
    ...only,
    path,
  ]);
  const { packets } = JSON.parse(stdout) as { packets: { pts_time: string; size: string }[] };
  return packets.filter(({ size }) => Number(size) > 2).map(({ pts_time }) => Number(pts_time));
}
