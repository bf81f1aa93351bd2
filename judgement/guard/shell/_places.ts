/** Places of files by `paths.yaml`: whole names, endings and folders. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../../config.ts";

const WORDS = z.string().transform((text) => text.split(/\s+/).filter(Boolean));
const PLACES = z.strictObject({
  names: WORDS.optional(),
  endings: WORDS.optional(),
  below: WORDS.optional(),
  pairs: WORDS.optional(),
});
const FILE = z.strictObject({
  secret: PLACES,
  settings: PLACES,
  typed: PLACES,
  evidence: PLACES,
  whole: WORDS,
  system: WORDS,
  databases: WORDS,
  disks: WORDS,
});
type Places = z.output<typeof PLACES>;

const file = FILE.parse(
  parse(readFileSync(join(ROOT, "judgement", "guard", "paths.yaml"), "utf8")),
);
const WHOLE = new Set(file.whole);
const DATABASES = new Set(file.databases);
const NAMES = new Map(
  [file.secret, file.settings, file.typed, file.evidence].map((
    places,
  ) => [places, new Set(places.names)]),
);
/** Parts of a process: its memory, variables, open files and its view of the host. */
const OF_PROCESS =
  /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem|root|cwd|fd|maps_files|map_files)(\/|$)/;

/** Tells whether a path lies in a folder, or is it. */
function isBelow(path: string, folders: readonly string[] | undefined): boolean {
  return folders?.some((folder) => path === folder || path.startsWith(`${folder}/`)) === true;
}

function isAt(path: string, places: Places): boolean {
  const names = NAMES.get(places)!;
  const segments = path.split("/");
  return isBelow(path, places.below) ||
    segments.some((segment, n) =>
      names.has(segment) || names.has(segment.replace(/[.-]?\d*\*?$/, "")) ||
      places.endings?.some((ending) =>
        segment.length > ending.length && segment.endsWith(ending)
      ) ||
      places.pairs?.includes(`${segment}/${segments[n + 1]}`)
    );
}

/** Tells whether a path holds keys, passwords or accounts. @param path normalized, lower case */
export const holdsSecrets = (path: string): boolean =>
  isAt(path, file.secret) || OF_PROCESS.test(path) || /\/\.env\.\w+$/.test(path);
/** Tells whether a path holds settings with passwords among them. */
export const holdsPasswords = (path: string): boolean => isAt(path, file.settings);
/** Tells whether a path holds what a person has typed. */
export const holdsTyped = (path: string): boolean => isAt(path, file.typed);
/** Tells whether a path shows who did what. */
export const isEvidence = (path: string): boolean =>
  isAt(path, file.evidence) || holdsTyped(path) || /(^|\/)\.?\w*_history$/.test(path);
/** Tells whether a path is a whole part of the machine. */
export const isWhole = (path: string): boolean => WHOLE.has(path);
/** Tells whether a path lies in a folder of the system. */
export const isOfSystem = (path: string): boolean => isBelow(path, file.system);
/** Tells whether a path lies in a folder of a database. */
export const isOfDatabase = (path: string): boolean =>
  path.split("/").slice(1).some((segment) => DATABASES.has(segment));
/** Tells whether a path is a device that holds data. */
export const isDisk = (path: string): boolean =>
  path.startsWith("/dev/") && file.disks.some((disk) => path.startsWith(`/dev/${disk}`));

/** Files with secrets that a pattern such as `/etc/sh?dow` may stand for. */
const WELL_KNOWN = [
  ...(file.secret.below ?? []).filter((path) => path !== "/etc/passwd"),
  ...["shadow", "gshadow", "sudoers"].map((name) => `/etc/${name}`),
  ...["id_rsa", "id_ed25519", "authorized_keys"].map((name) => `/root/.ssh/${name}`),
  "/proc/1/environ",
  "/proc/self/environ",
];

/** Tells whether a pattern of a file's name, such as `id_*` or `.*history`, may stand for a secret. */
export function mayNameSecret(pattern: string): boolean {
  // An ending alone, such as `*.conf`, says nothing of what is in a file.
  if (/^\*\.\w+$/.test(pattern)) return false;
  if (pattern.replace(/[*?.]|\[[^\]]*\]/g, "").length < 3) return false;
  const glob = globOf(pattern.toLowerCase());
  return [...file.secret.names ?? [], ...file.typed.names ?? []].some((name) => glob?.test(name));
}

/** Tells whether a path with a pattern in it may stand for a file with secrets. */
export function mayHoldSecrets(path: string): boolean {
  if (!/[*?[]/.test(path) || path.length > 200) return false;
  if (mayNameSecret(path.slice(path.lastIndexOf("/") + 1))) return true;
  const glob = globOf(path);
  return glob === undefined || WELL_KNOWN.some((one) => glob.test(one)) ||
    OF_PROCESS.test(path.replace(/[*?]+|\[[^\]]*\]/g, "x"));
}

/** Makes an expression of a shell's pattern; undefined: it can't be read. */
function globOf(pattern: string): RegExp | undefined {
  const source = pattern.replace(/[.+^${}()|\\]/g, "\\$&").replace(/\*+/g, "[^/]*")
    .replaceAll("?", "[^/]").replace(/\[!/g, "[^");
  try {
    return new RegExp(`^${source}$`);
  } catch {
    return undefined;
  }
}
