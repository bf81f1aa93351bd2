/** FFmpeg's own ffprobe, from npm: a build by others than the ffmpeg that makes the files. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const NAME = "@ffprobe-installer/linux-x64";
const FOLDER = join(homedir(), ".cache", "sealoop", "ffprobe");
const PROGRAM = join(FOLDER, "node_modules", ...NAME.split("/"), "ffprobe");
const PACKAGE = { private: true, dependencies: { [NAME]: "5.2.0" } };

/** Installs ffprobe once. @returns the reason why it can't be had here; undefined: it is there */
export async function installFfprobe(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return "ffprobe is for Linux x64";
  try {
    if (!existsSync(PROGRAM)) {
      await mkdir(FOLDER, { recursive: true });
      await writeFile(join(FOLDER, "package.json"), JSON.stringify(PACKAGE));
      await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: FOLDER });
    }
    await chmod(PROGRAM, 0o755);
    return undefined;
  } catch (error) {
    return `ffprobe can't be installed from npm here: ${(error as Error).message.split("\n")[0]}`;
  }
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
  const { stdout } = await run(PROGRAM, ["-v", "error", "-of", "json", ...shown, path]);
  return JSON.parse(stdout);
}

/** Returns when the packets of the captions in a film begin, seconds, without the empty ones between them. */
export async function probeCaptions(path: string): Promise<number[]> {
  const only = ["-select_streams", "s:0", "-show_entries", "packet=pts_time,size"];
  const { stdout } = await run(PROGRAM, ["-v", "error", "-of", "json", ...only, path]);
  const { packets } = JSON.parse(stdout) as { packets: { pts_time: string; size: string }[] };
  return packets.filter(({ size }) => Number(size) > 2).map(({ pts_time }) => Number(pts_time));
}
