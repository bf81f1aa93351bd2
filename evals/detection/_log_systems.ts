import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";

/** A log whose kinds of lines are known. */
export interface LabelledLog {
  readonly name: string;
  /** True: nobody looks at more than its total while the miner is tuned. */
  readonly isHeldOut: boolean;
  readonly lines: readonly string[];
  /** Kind of each line. */
  readonly labels: readonly string[];
}

/** A file of `log_systems/`. */
interface LogSystem {
  /** Format of a line. Placeholders are names in braces. */
  readonly line: string;
  /** Values of placeholders: one is chosen of each list. */
  readonly values?: Readonly<Record<string, string | readonly string[]>>;
  /** A kind of message in each line: how frequent it is, its level, its component, its text. */
  readonly messages: string;
}

type Random = (below: number) => number;

const LINES = 2_000;
/** Every third system, in the order of their names, is held out. */
const HELD_OUT_EVERY = 3;
const START = Date.UTC(2026, 2, 2, 3, 4, 5);
const MAX_PAUSE_MS = 20_000;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const WORDS = (
  "orders stock billing search mail audit queue session profile report invoice basket export " +
  "import index media thumbs ledger carts prices users rates backup archive events metrics nightly"
).split(" ");
const USERS = "root admin ada grace linus oracle test guest ubnt deploy alan barbara ken".split(
  " ",
);
const PLACEHOLDER = /\{([a-z_\d]+)(?::([^{}]*))?\}/g;
const TIME_PART = /epoch|yyyy|yy|MMM|MM|M|dd|d|HH|mm|ss|SSSSSS|SSS|EEE/g;

/** Writes a log of each system of a folder, the same each time. */
export function writeLabelledLogs(folder: string): LabelledLog[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".yaml")).sort();
  return files.map((file, i) => ({
    name: basename(file, ".yaml"),
    isHeldOut: i % HELD_OUT_EVERY === HELD_OUT_EVERY - 1,
    ...writeLog(parse(readFileSync(join(folder, file), "utf8")) as LogSystem, i + 1),
  }));
}

function writeLog({ line, values = {}, messages }: LogSystem, seed: number) {
  const random = createRandom(seed);
  const kinds = messages.trim().split("\n").map((row) => {
    const [, weight, level, component, text] = /^(\d+) (\S+) (\S+) (.*)$/.exec(row)!;
    return { weight: Number(weight), level: level!, component: component!, text: text! };
  });
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0);
  const lines: string[] = [];
  const labels: string[] = [];
  let time = START;
  for (let i = 0; i < LINES; i++) {
    let left = random(total);
    const kind = kinds.find(({ weight }) => (left -= weight) < 0)!;
    time += random(MAX_PAUSE_MS);
    const fill = (text: string): string =>
      text.replace(PLACEHOLDER, (_, name: string, option: string) => {
        if (name === "time") return formatTime(time, option);
        const choices = values[name];
        if (choices === undefined) return createValue(name, option, random);
        return fill(typeof choices === "string" ? choices : choose(choices, random));
      });
    const header = new Map<string, string>([
      ["level", fill(kind.level)],
      ["component", fill(kind.component)],
      ["message", fill(kind.text)],
    ]);
    lines.push(line.replace(PLACEHOLDER, (field, name: string, width: string) => {
      const text = header.get(name) ?? fill(field);
      if (name in values) header.set(name, text); // the same throughout the line
      return name === "level" || name === "component" ? text.padEnd(Number(width ?? 0)) : text;
    }));
    labels.push(kind.text);
  }
  return { lines, labels };
}

function formatTime(time: number, format: string): string {
  const at = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  const parts: Record<string, () => string> = {
    epoch: () => String(Math.floor(time / 1_000)),
    yyyy: () => String(at.getUTCFullYear()),
    yy: () => two(at.getUTCFullYear() % 100),
    MMM: () => MONTHS[at.getUTCMonth()]!,
    MM: () => two(at.getUTCMonth() + 1),
    M: () => String(at.getUTCMonth() + 1),
    dd: () => two(at.getUTCDate()),
    d: () => String(at.getUTCDate()).padStart(2),
    HH: () => two(at.getUTCHours()),
    mm: () => two(at.getUTCMinutes()),
    ss: () => two(at.getUTCSeconds()),
    SSS: () => String(at.getUTCMilliseconds()).padStart(3, "0"),
    SSSSSS: () => String(at.getUTCMilliseconds() * 1_000 + time % 997).padStart(6, "0"),
    EEE: () => DAYS[at.getUTCDay()]!,
  };
  return format.replace(TIME_PART, (part) => parts[part]!());
}

function createValue(name: string, option: string | undefined, random: Random): string {
  const size = Number(option ?? 0);
  const text = (characters: string, length: number) =>
    Array.from({ length }, () => characters[random(characters.length)]).join("");
  const digits = (length: number) => text("0123456789", length);
  const word = () => choose(WORDS, random);
  const parts: Record<string, () => string> = {
    int: () => String(random(size || 10 ** (1 + random(5)))),
    float: () => `${random(10 ** (1 + random(3)))}.${digits(1 + random(3))}`,
    digits: () => `${1 + random(9)}${digits(size - 1)}`,
    hex: () => text("0123456789abcdef", size),
    b64: () => text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", size),
    uuid: () => [8, 4, 4, 4, 12].map((n) => text("0123456789abcdef", n)).join("-"),
    ip: () => Array.from({ length: 4 }, () => 1 + random(254)).join("."),
    port: () => String(1_024 + random(64_000)),
    mac: () => Array.from({ length: 6 }, () => text("0123456789abcdef", 2)).join(":"),
    clock: () => [24, 60, 60].map((n) => String(random(n)).padStart(2, "0")).join(":"),
    word,
    user: () => choose(USERS, random),
    host: () => `${word()}${random(3) ? `-${random(40)}` : ""}`,
    domain: () =>
      `${word()}${random(2) ? random(90) : ""}.${word()}.example.${choose(["com", "net"], random)}`,
    email: () => `${choose(USERS, random)}@${word()}.example.com`,
    url: () => `https://${word()}.example.com/${word()}?${word()}=${random(900)}`,
    path: () =>
      Array.from({ length: 2 + random(4) }, () => `/${word()}${random(3) ? "" : random(99)}`).join(
        "",
      ),
  };
  const create = parts[name];
  if (!create) throw new Error(`There is no placeholder ${name}`);
  return create();
}

function choose(choices: readonly string[], random: Random): string {
  return choices[random(choices.length)]!;
}

/** Creates random numbers that are the same each time (mulberry32). */
function createRandom(seed: number): Random {
  let state = seed * 0x9e3779b9;
  return (below) => {
    state = state + 0x6d2b79f5 | 0;
    let t = Math.imul(state ^ state >>> 15, 1 | state);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return Math.floor(((t ^ t >>> 14) >>> 0) / 2 ** 32 * below);
  };
}
