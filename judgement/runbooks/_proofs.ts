/** Proofs that a file is what a clean step takes it for. Without one it stays. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { FoundFile } from "./_files.ts";

/** Kinds of files that can be proved. */
export const PROOFS = ["rotated_log", "old_deploy"] as const;
/** Kind of files that can be proved. */
export type Proof = typeof PROOFS[number];

/** Deploys besides the one in use that stay, so that it can be gone back to. */
const KEPT_DEPLOYS = 2;
/** The end that rotation adds to the name of a log: a number or a date, and maybe that of a compression. */
const ROTATED =
  /^(.+?)(?:[.-](?:\d{1,3}|\d{8}(?:[-T]?\d{4,6})?|\d{4}-\d{2}-\d{2}(?:[T_-]\d{2}[-:]?\d{2}(?:[-:]?\d{2})?)?))(\.[a-z]{2,4})?(?:\.(?:gz|xz|zst|bz2))?$/;

/**
 * Returns a test whether a file below a folder is provably of a kind. No proof looks at whether it is open; a clean step
 * leaves open files in any case.
 */
export function createProof(
  kind: Proof,
  folders: readonly string[],
): (file: FoundFile) => boolean {
  if (kind === "rotated_log") return isRotatedLog;
  const old = folders.flatMap(listOldDeploys);
  return ({ path }) => old.some((deploy) => path.startsWith(`${deploy}/`));
}

/**
 * Returns whether the log that a file was rotated from is there and was written later: `app.log` beside `app.log.1`,
 * `app.log-20260101.gz` or `app-20260101.log`.
 */
function isRotatedLog({ path, stats }: FoundFile): boolean {
  const [, stem, extension = ""] = ROTATED.exec(basename(path)) ?? [];
  if (stem === undefined) return false;
  return [stem, `${stem}${extension}`].some((name) => {
    if (!/\blog\b|\.(?:log|out|err)$/i.test(name)) return false;
    const live = quietly(() => lstatSync(join(dirname(path), name)));
    return live?.isFile() === true && live.ino !== stats.ino && live.mtimeMs >= stats.mtimeMs;
  });
}

/**
 * Lists the deploys in a folder that are in use no more: a link beside them or above leads to another one of them, no process
 * runs in them, and {@linkcode KEPT_DEPLOYS} newer ones stay. Without such a link none is old.
 */
function listOldDeploys(folder: string): string[] {
  const entries = quietly(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  const deploys = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => join(folder, name));
  const linked = new Set([folder, dirname(folder)].flatMap((place) => listLinked(place)));
  const inUse = (deploy: string) =>
    [...linked].some((target) => `${target}/`.startsWith(`${deploy}/`));
  if (!deploys.some(inUse)) return [];
  const used = listUsedFolders();
  const current = Math.min(...deploys.filter(inUse).map(changedMs));
  return deploys.filter((deploy) => !inUse(deploy) && changedMs(deploy) < current)
    .sort((a, b) => changedMs(b) - changedMs(a)).slice(KEPT_DEPLOYS)
    .filter((deploy) => !used.some((path) => `${path}/`.startsWith(`${deploy}/`)));
}

const changedMs = (path: string) => quietly(() => lstatSync(path).mtimeMs) ?? Infinity;

/** Lists where the links of a folder lead to. */
function listLinked(folder: string): string[] {
  return (quietly(() => readdirSync(folder, { withFileTypes: true })) ?? [])
    .filter((entry) => entry.isSymbolicLink())
    .flatMap(({ name }) => quietly(() => realpathSync(join(folder, name))) ?? []);
}

/** Lists the folders and files that processes run in or from, have open or have mapped. */
function listUsedFolders(): string[] {
  return (quietly(() => readdirSync("/proc")) ?? []).filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const open = quietly(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
      const links = ["cwd", "exe", "root", ...open.map((fd) => `fd/${fd}`)].flatMap((name) =>
        quietly(() => readlinkSync(`/proc/${pid}/${name}`)) ?? []
      );
      const maps = quietly(() => readFileSync(`/proc/${pid}/maps`, "utf8")) ?? "";
      const mapped = [...maps.matchAll(/ (\/\S.*)$/gm)].map(([, path]) => path!);
      return [...links, ...new Set(mapped)];
    });
}

/** Returns undefined where it fails: what was looked at is gone, or not visible. */
function quietly<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
