import { holdsSecrets, isDisk, isEvidence, isOfDatabase, isOfSystem, isWhole } from "./_places.ts";
import { UNKNOWN } from "./_types.ts";
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("paths", [
  "scratch",
]);

/** The kind of files at a path, by its name. */
export type Area =
  | "root" // the whole machine, or a whole part of it: /, /usr, /home, /var/lib
  | "system" // below /etc, /usr, /boot, …
  | "device" // a disk
  | "secret" // keys, password files
  | "evidence" // audit and security logs, shell histories
  | "backup"
  | "data" // databases, users' files, mounted volumes
  | "scratch" // caches, temporary files, builds
  | "log"
  | "named" // anything else with a specific name
  | "relative" // below a folder that the line does not name
  | "unknown"; // a bare glob, an unset variable

const BACKUP =
  /(^|\/)[\w.-]*(backups?|snapshots?|archives?|dumps?|restic|borg|bacula|veeam|duplicity)[\w-]*(\/|$)/;
const SCRATCH = expressions.scratch;

/** Data within what may be a folder for builds. */
const HOLDS_DATA =
  /\/(data|databases?|db|uploads?|media|users?|customers?)(\/|$)|\.(db|sqlite3?|mdb|rdb|aof|ibd|csv|sql)$/;
/** Folders whose content passes, whatever it is. */
const PASSING = /(^|\/)(tmp|temp|[\w.-]*caches?|node_modules|trash|\.trash)\/|\.(bak|old|orig)$/;
const LOG = /(^|\/)(log|logs|[\w.-]+[-_]logs?)(\/|$)|\.log(\.|$|[-\d*])|\.log\.gz$/;

/** Removes `.`, `..` and needless slashes from a path, and makes it relative to `folder`. */
export function normalizePath(path: string, folder: string | undefined): string {
  let full = path.replace(/^['"]|['"]$/g, "").replace(/^\$HOME\b/, "~").replace(
    /^\/(?:private|host|rootfs|hostfs|mnt\/root)(?=\/)/,
    "",
  );
  if (!/^[/~]/.test(full) && folder !== undefined) full = `${folder}/${full}`;
  const parts: string[] = [];
  for (const part of full.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (!full.startsWith("/")) parts.push(part);
  }
  return (full.startsWith("/") ? "/" : "") + parts.join("/");
}

/** Tells whether a path ends in a glob that matches everything: `/x/*`, `/x/.*`, `/x/**`. */
export function matchesEverything(path: string): boolean {
  return /(^|\/)(\*+|\.\*|\.\[\^\.\]\*|\*\.\*|\?\*|\{\.,\}\*)$/.test(path);
}

/**
 * Returns the kind of files at a path. A cache, a log or a file is only known by a path from the root or from a home folder:
 * without its folder, or with a part that only the running line knows, a name stands for any file.
 */
export function areaOf(path: string, folder?: string): Area {
  const full = normalizePath(path, folder).toLowerCase();
  const area = areaByName(full);
  if (!["scratch", "log", "named"].includes(area)) return area;
  if (full.includes(UNKNOWN)) return "unknown";
  return /^[/~]/.test(full) ? area : "relative";
}

function areaByName(full: string): Area {
  const base = matchesEverything(full)
    ? full.replace(/\/?[^/]+$/, "") || (full.startsWith("/") ? "/" : "")
    : full;
  if (full.startsWith("/") && base === "/") return "root";
  if (/^\/[*?[]/.test(full) || /^\/\.\*?$/.test(full)) return "root";
  if (isDisk(full)) return "device";
  if (/^(~|~root|~\/|\/home\/[^/]+|\/users\/[^/]+)$/.test(base)) return "data";
  if (holdsSecrets(base) || holdsSecrets(full)) return "secret";
  if (isWhole(base)) return base === "/var/log" ? "evidence" : "root";
  if (isEvidence(full)) return "evidence";
  if (full.startsWith(UNKNOWN)) return "unknown";
  if (/^\/?(var\/)?tmp(\/|$)/.test(base)) return "scratch";
  if (base === "" || /^[*.?]+$/.test(base)) return "unknown";
  if (/(core|crash|mini|heap|thread)[-_]?dumps?(\/|$|\*)/.test(base)) return "scratch";
  if (base.startsWith("/var/cache/")) return "scratch";
  if (BACKUP.test(base)) return /\.(bak|old)$/.test(base) ? "scratch" : "backup";
  if (SCRATCH.test(base) && !(HOLDS_DATA.test(base) && !PASSING.test(base))) return "scratch";
  if (LOG.test(full)) return "log";
  if (isOfDatabase(base)) return "data";
  if (isOfSystem(base)) return "system";
  if (
    full.startsWith("~/") ||
    /^\/(home|srv|mnt|media|data\d*|export|nfs|volumes|var\/(lib|mail|www|spool|opt)|users)\//.test(
      base,
    )
  ) return "data";
  return "named";
}
