/** Computes the output of simple programs, as in `$(echo cm0= | base64 -d)`. */
import { unpack } from "../_unpack.ts";
import { killByName } from "./_processes.ts";
import { type Run, UNKNOWN } from "./_types.ts";

const MAX_OUTPUT_LENGTH = 16_384;
/** Programs that print their input as it is, or nearly so. */
const PASS_THROUGH = new Set([
  "cat",
  "tee",
  "sort",
  "uniq",
  "head",
  "tail",
  "pv",
  "stdbuf",
  "more",
  "less",
]);

/** Stands for the number of a process that is known by its name or its file. */
const A_PROCESS = "99999";

const NO_RUN: Run = {
  program: "",
  path: "",
  args: [],
  writes: [],
  environment: [],
  input: undefined,
  folder: undefined,
  isFolderSure: true,
  remote: false,
  into: undefined,
};

/** Tells whether the arguments of `pgrep` name one program, on which hardly anything else depends. */
function namesProcess(args: readonly string[]): boolean {
  const names = args.filter((arg) => !arg.startsWith("-"));
  return names.length === 1 && killByName({ ...NO_RUN, args: names }).length === 0 &&
    args.every((arg) => !arg.startsWith("-") || /^-[fxon]+$/.test(arg));
}

/**
 * Returns the output of a program.
 *
 * @param input its input; undefined: unknown
 * @returns undefined: it can't be known without running the program
 */
export function outputOf(
  program: string,
  args: readonly string[],
  input: string | undefined,
): string | undefined {
  const output = computeOutput(program, args, input);
  return output === undefined || output.length > MAX_OUTPUT_LENGTH ? undefined : output;
}

function computeOutput(program: string, args: readonly string[], input: string | undefined) {
  const flag = (short: RegExp) => args.some((arg) => short.test(arg));
  const words = args.filter((arg) => !arg.startsWith("-"));
  switch (program) {
    case "echo": {
      const text = args.filter((arg) => !/^-[neE]+$/.test(arg)).join(" ");
      return flag(/^-\w*e/) ? unescape(text) : text;
    }
    case "printf":
      return formatPrintf(args);
    case "base64":
    case "gbase64":
      if (!flag(/^(-\w*[dD]|--decode)$/)) return encode(input);
      return decode(input ?? words[0], "base64");
    case "base32":
      return undefined;
    case "xxd":
      return flag(/^-\w*r/) ? decode(input?.replace(/\s+/g, ""), "hex") : undefined;
    case "openssl":
      return words.includes("base64") || args.includes("-base64") || args.includes("-a")
        ? flag(/^-d$/) ? decode(input, "base64") : undefined
        : undefined;
    case "rev":
      return input?.split("\n").map((line) => [...line].reverse().join("")).join("\n");
    case "tr":
      return input === undefined ? undefined : translate(input, args);
    case "sed":
      return input === undefined ? undefined : substitute(input, words[0]);
    case "gunzip":
    case "zcat":
      return undefined;
    case "pgrep":
    case "pidof":
      return namesProcess(args) ? A_PROCESS : undefined;
    case "date":
      return args.every((arg) => /^[+-][\w%:./-]*$/.test(arg)) ? "2000-01-01" : undefined;
    default:
      if (program === "cat" && words.length === 1 && /\.pid$/.test(words[0]!)) return A_PROCESS;
      return PASS_THROUGH.has(program) && words.every((word) => word === "-" || /^\d+$/.test(word))
        ? input
        : undefined;
  }
}

function encode(input: string | undefined): string | undefined {
  return input === undefined ? undefined : Buffer.from(input).toString("base64");
}

function decode(input: string | undefined, how: "base64" | "hex"): string | undefined {
  if (input === undefined || input.includes(UNKNOWN)) return undefined;
  const bytes = Buffer.from(input.trim(), how);
  return unpack(bytes).toString("utf8");
}

/** Replaces escapes such as `\x72`, `\162` and `\n`. */
function unescape(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|([abfnrtv\\]))/g,
    (_, hex, unicode, octal, letter) =>
      hex ?? unicode
        ? String.fromCharCode(parseInt(hex ?? unicode, 16))
        : octal
        ? String.fromCharCode(parseInt(octal, 8))
        : { n: "\n", t: "\t", r: "\r", "\\": "\\" }[letter as string] ?? " ",
  );
}

function formatPrintf([pattern, ...rest]: readonly string[]): string | undefined {
  if (pattern === undefined) return "";
  if (pattern === "-v") return undefined;
  let next = 0;
  const once = () =>
    unescape(pattern).replace(/%(?:[-0-9.]{0,6})([sbdixXo%c])/g, (_, kind) => {
      if (kind === "%") return "%";
      const value = rest[next++] ?? "";
      return kind === "b" ? unescape(value) : value;
    });
  let text = once();
  while (next > 0 && next < rest.length && text.length < MAX_OUTPUT_LENGTH) text += once();
  return text;
}

function translate(input: string, args: readonly string[]): string | undefined {
  const [from, to] = args.filter((arg) => !/^-[dscC]+$/.test(arg)).map(expandRanges);
  if (from === undefined) return undefined;
  if (args.some((arg) => /^-\w*d/.test(arg))) {
    return [...input].filter((char) => !from.includes(char)).join("");
  }
  if (to === undefined || to === "") return undefined;
  return [...input].map((char) => {
    const at = from.indexOf(char);
    return at < 0 ? char : to[Math.min(at, to.length - 1)];
  }).join("");
}

function expandRanges(set: string): string {
  return unescape(set).replace(/(.)-(.)/g, (range, first: string, last: string) => {
    const [a, b] = [first.charCodeAt(0), last.charCodeAt(0)];
    if (b < a || b - a > 128) return range;
    return Array.from({ length: b - a + 1 }, (_, n) => String.fromCharCode(a + n)).join("");
  });
}

/** Applies a sed script `s/x/y/g` with plain text on the left. */
function substitute(input: string, script: string | undefined): string | undefined {
  const [, left, right, flags] = /^s([^\w\s])(?=)/.test(script ?? "")
    ? (script!.split(script![1]!) as string[])
    : [];
  if (left === undefined || right === undefined || /[.*[\]\\^$?+(){}]/.test(left)) return undefined;
  return flags?.includes("g") ? input.replaceAll(left, right) : input.replace(left, right);
}
