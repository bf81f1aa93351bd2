import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Config, programPath, ROOT } from "../../config.ts";
import { Problem } from "../../contract/mod.ts";
import { findPython, installPackages, isInstalled, type Python } from "./_cache.ts";
import { ChildFailed, type ChildOutput, runChild } from "./_child.ts";

/** Bounds of one run of a program. */
export interface RunBounds {
  /** Folder that it works in. */
  readonly cwd: string;
  /** Longest time, seconds. */
  readonly seconds: number;
  readonly signal?: AbortSignal | undefined;
}

/** The programs that make and read media, each found or fetched when it is first needed. */
export interface MediaTools {
  /**
   * Runs ffmpeg.
   *
   * @returns what it said
   * @throws {Problem} `NotConfigured`: there is none
   * @throws {ChildFailed}
   */
  ffmpeg(args: readonly string[], bounds: RunBounds): Promise<ChildOutput>;
  /**
   * Runs a program of `integrations/media/programs/` in Python.
   *
   * @returns its answer
   * @throws {Problem} `NotConfigured`: there is no Python with its packages
   * @throws {ChildFailed}
   */
  python<Answer>(name: PythonProgram, request: unknown, bounds: RunBounds): Promise<Answer>;
  /** Returns whether the Python programs can run without fetching anything. */
  hasPrograms(): Promise<boolean>;
  /** Draws pictures in a process of its own. @throws {ChildFailed} */
  draw(request: unknown, bounds: RunBounds): Promise<void>;
  /** Returns how ffmpeg is reached, for people. @throws {Problem} `NotConfigured` */
  describeFfmpeg(): Promise<{ readonly path: string; readonly version: string }>;
}

/** A program of `integrations/media/programs/`. */
type PythonProgram = "speak" | "transcribe" | "provenance";

const PROGRAMS = join(ROOT, "integrations", "media", "programs");
const PACKAGES = join(PROGRAMS, "requirements.txt");
const FFMPEG_PACKAGE = join(PROGRAMS, "ffmpeg.txt");
const GIB = 1024 ** 3;
const MAX_FILE_BYTES = 2 * GIB;
const MEMORY = { ffmpeg: 3 * GIB, python: 6 * GIB } as const;
/** Encoders that an ffmpeg needs to be of use. */
const ENCODERS = ["libx264", "aac", "libmp3lame"] as const;
const PYTHONS = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"];

/** Opens the tools. Nothing is looked for before it is used. */
export function openMediaTools({ settings }: Pick<Config, "settings">): MediaTools {
  const wanted = settings.SEALOOP_PYTHON;
  const python = once(async () => {
    const found = await findPython(wanted ? [wanted] : PYTHONS);
    if (found) return found;
    throw new Problem(
      "NotConfigured",
      wanted
        ? "SEALOOP_PYTHON is no Python of version 3.10 or newer"
        : "There is no Python of version 3.10 or newer: install one, or name it as SEALOOP_PYTHON",
    );
  });
  const packages = once(async () => {
    const interpreter = await python();
    const folder = await fetchPackages(interpreter, PACKAGES);
    return { interpreter, folder };
  });
  const ffmpeg = once(() => findFfmpeg(settings.SEALOOP_FFMPEG, python));
  return {
    async ffmpeg(args, bounds) {
      const { path } = await ffmpeg();
      const local = args.flatMap((arg) =>
        arg === "-i" ? ["-protocol_whitelist", "file,pipe", arg] : [arg]
      );
      return await runChild({
        ...bounds,
        program: path,
        args: ["-hide_banner", "-nostdin", "-y", ...local],
        memory: MEMORY.ffmpeg,
        fileSize: MAX_FILE_BYTES,
      });
    },
    async python<Answer>(name: PythonProgram, request: unknown, bounds: RunBounds) {
      const { interpreter, folder } = await packages();
      const { stdout } = await runChild({
        ...bounds,
        program: interpreter.program,
        args: ["-I", "-B", join(PROGRAMS, "run.py"), folder, name],
        input: JSON.stringify(request),
        memory: MEMORY.python,
        fileSize: MAX_FILE_BYTES,
      });
      return JSON.parse(stdout) as Answer;
    },
    async hasPrograms() {
      const interpreter = await python().catch(() => undefined);
      return interpreter !== undefined && isInstalled(nameFolder(interpreter, PACKAGES));
    },
    async draw(request, bounds) {
      await runChild({
        ...bounds,
        program: process.execPath,
        args: ["--max-old-space-size=512", programPath("integrations/media/_picture_program.ts")],
        input: JSON.stringify(request),
        fileSize: MAX_FILE_BYTES,
      });
    },
    describeFfmpeg: ffmpeg,
  };
}

/** Finds an ffmpeg: the setting's, on PATH, or PyPI's, which is fetched where it is not in the cache yet. */
async function findFfmpeg(setting: string | undefined, python: () => Promise<Python>) {
  const candidates = setting ? [setting] : findOnPath("ffmpeg");
  for (const path of candidates) {
    const version = await readVersion(path);
    if (version) return { path, version };
  }
  if (setting) {
    throw new Problem(
      "NotConfigured",
      `SEALOOP_FFMPEG is no ffmpeg that has the encoders ${ENCODERS.join(", ")}`,
    );
  }
  const interpreter = await python().catch(() => {
    throw new Problem(
      "NotConfigured",
      "There is no ffmpeg: install it, name it as SEALOOP_FFMPEG, or install Python 3.10 or newer, by which it is fetched",
    );
  });
  const folder = await fetchPackages(interpreter, FFMPEG_PACKAGE);
  const binaries = join(folder, "imageio_ffmpeg", "binaries");
  const name = readdirSync(binaries).find((file) => file.startsWith("ffmpeg-"));
  const path = name && join(binaries, name);
  const version = path && await readVersion(path);
  if (path && version) return { path, version };
  throw new Problem(
    "NotConfigured",
    "The fetched ffmpeg does not run here: install one, or name it as SEALOOP_FFMPEG",
  );
}

/** Returns the name of the cache's folder for packages: other requirements, and another Python, have another. */
function nameFolder({ version }: Python, requirements: string): string {
  const hash = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const kind = requirements === PACKAGES ? "python" : "ffmpeg";
  return `media-${kind}-${hash}-${version}`;
}

async function fetchPackages(python: Python, requirements: string): Promise<string> {
  try {
    return await installPackages(python, nameFolder(python, requirements), requirements);
  } catch (cause) {
    throw new Problem(
      "NotConfigured",
      `Cannot fetch the packages for media by pip of Python ${python.version} (${
        (cause as Error).message
      }): it needs pip and a package index, once`,
      { cause },
    );
  }
}

/** Returns the version of an ffmpeg that has every encoder, or undefined. */
async function readVersion(path: string): Promise<string | undefined> {
  const ask = async (option: string) =>
    (await runChild({
      program: path,
      args: ["-hide_banner", option],
      cwd: "/",
      seconds: 20,
      fileSize: 0,
    }))
      .stdout;
  try {
    const [, version] = /^ffmpeg version (\S+)/.exec(await ask("-version")) ?? [];
    const encoders = await ask("-encoders");
    return ENCODERS.every((name) => encoders.includes(` ${name} `)) ? version : undefined;
  } catch (error) {
    const isBroken = error instanceof ChildFailed || error instanceof Problem;
    if (isBroken || (error as NodeJS.ErrnoException).code) return undefined;
    throw error;
  }
}

function findOnPath(name: string): string[] {
  return (process.env.PATH ?? "").split(delimiter).filter(Boolean).map((dir) => join(dir, name))
    .filter((path) => existsSync(path));
}

/** Keeps the first result. A failure is not kept: what was missing may be there the next time. */
function once<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined;
  return () => {
    found ??= find().catch((error) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}
