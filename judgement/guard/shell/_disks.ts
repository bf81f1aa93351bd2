/** Judges operands of programs that manage disks, volumes and backups. */
import type { Objection } from "../types.ts";
import { operands } from "./_arguments.ts";
import { writeObjections } from "./_files.ts";
import { areaOf } from "./_paths.ts";
import { displayPath } from "./_removal.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";

/** Judges `dd`: by what it reads, and where it writes. */
export const dd: ProgramRule = (run) => {
  const valueOf = (name: string) =>
    run.args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1);
  const from = valueOf("if");
  const to = valueOf("of");
  const area = from === undefined ? undefined : areaOf(from);
  const read = area === "secret" || area === "device" && !/^\/dev\/(zero|urandom)$/.test(from!)
    ? [ask("secret", "It reads secrets, or a whole disk")]
    : [];
  if (to === undefined) return read;
  const fills = /^\/dev\/(zero|u?random|full)$/.test(from ?? "") ? fillObjections(to, valueOf) : [];
  return [...read, ...fills, ...writeObjections(to, run, "overwrites")];
};

const UNITS: Readonly<Record<string, number>> = { "": 1, B: 1, K: 1e3, M: 1e6, G: 1e9, T: 1e12 };
/** Most that a test of a disk writes. */
const MAX_FILL_BYTES = 20e9;

/** Objects to writing zeros into a file that is no test's own, or without an end that a disk has room for. */
function fillObjections(to: string, valueOf: (name: string) => string | undefined): Objection[] {
  const bytes = sizeOf(valueOf("bs") ?? "512") * sizeOf(valueOf("count") ?? "");
  if (/^\/dev\/(null|zero)$/.test(to)) return [];
  if (!(bytes <= MAX_FILL_BYTES)) return [ask("outage", "It writes more than a disk has to spare")];
  return /^\/((var\/)?tmp|dev\/shm)\/|test/i.test(to)
    ? []
    : [ask("destroys", `It writes zeros into \`${displayPath(to)}\``)];
}

/** Reads `100`, `1M` or `4KiB`; anything else is not a number. */
function sizeOf(text: string): number {
  const [, digits, unit = ""] = /^(\d+)([KMGTB]?)i?B?$/i.exec(text) ?? [];
  return digits === undefined ? NaN : Number(digits) * UNITS[unit.toUpperCase()]!;
}

/** Judges the making of a file system. */
export const makeFileSystem: ProgramRule = ({ args }) => {
  const words = operands(args);
  const isScratch = words.length > 0 &&
    words.every((word) => areaOf(word) === "scratch" || /^\d*$/.test(word));
  const on = words.length > 0 ? ` on \`${displayPath(words.at(-1)!)}\`` : "";
  return isScratch ? [] : [deny("disk", `It makes a new, empty file system${on}`)];
};

/** Objects to swap space that lies where anybody may write. */
export function swapObjections(path: string): Objection[] {
  return areaOf(path) === "scratch"
    ? [ask("disk", `It uses \`${displayPath(path)}\` as memory`)]
    : [];
}

/** Objects to taking away file systems on which programs depend. */
export function unmountObjections(path: string): Objection[] {
  return /^\/(mnt|media|run\/media)\/[^/]/.test(path)
    ? []
    : [ask("disk", `It takes \`${displayPath(path)}\` away from the programs that use it`)];
}

/** Tells whether a retention rule of backups keeps at least three copies. */
export function keepsEnough(args: readonly string[]): boolean {
  const counts = args.flatMap((arg, n) => {
    const [, period, value = args[n + 1]] =
      /^--keep-(last|hourly|daily|weekly|monthly|yearly|within)(?:=(.*))?$/.exec(arg) ?? [];
    return period === undefined || period === "hourly" ? [] : [Number.parseInt(value ?? "", 10)];
  });
  return counts.length > 0 && counts.every((n) => n > 0) && Math.max(...counts) >= 3 &&
    !args.some((arg) => /^--(unsafe|force|host=?\*)/.test(arg));
}
