/** Kinds of words of the shell, and of programs with a small language of their own. */
import type { Objection } from "../types.ts";
import { checkCode, checkFilter, checkTableText } from "./_code.ts";
import { isSecret } from "./_destinations.ts";
import { isPlainArithmetic, isVariableName } from "./_evaluated.ts";
import { each, type Kind, nothing, readFile, writeFile } from "./_operands.ts";
import { displayPath } from "./_removal.ts";
import { ask } from "./_rule.ts";
import { onlyAsks } from "./_network.ts";
import { UNKNOWN } from "./_types.ts";

/** A word that names a file, whatever stands before it: `@/etc/x`, `file:///etc/x`, `--in=/etc/x`. */
const NAMES_FILE = /^(?:--?[\w-]+=)?@?(?:fileb?:\/\/)?([/~].*)$/;
/** Files with records of who was there. */
const RECORD = /^\/var\/(log|run)\/[uwb]tmpx?([.-]\d+)?$/;
/** Verbs of miller that only pick, count and arrange. */
const TABLE_VERBS = new Set(
  `altkv bar bootstrap cat count count-distinct count-similar cut decimate fill-down fill-empty flatten format-values
  fraction gap grep having-fields head histogram json-parse json-stringify label least-frequent merge-fields most-frequent
  nest nothing regularize rename reorder repeat reshape sample sec2gmt sec2gmtdate seqgen shuffle sort sort-within-records
  sparsify stats1 stats2 step summary tac template top unflatten uniq unspace unsparsify utf8-to-latin1`
    .split(/\s+/),
);

/** Options of a client of a cache that have it list or measure. */
const LISTS_KEYS =
  /^--(scan|bigkeys|memkeys|hotkeys|stat|latency|latency-history|latency-dist|intrinsic-latency)$/;
/** Words before the filter of `yq eval '.a' file`. */
const SUBCOMMAND = /^(e|eval|ea|eval-all)$/;
const FILE_WORD = /^(\/|~|\.\.?\/)|^[\w-]+\.(json|ya?ml)$/;
const PLAIN_PATH = /^(\.[\w$]*(\[\d*\])?)+$|^(length|keys|values|len|uniq|sort|flatten|reverse)$/;

const hidden = (word: string): Objection =>
  ask("unseen", `The shell runs what stands in \`${displayPath(word)}\``);

/** Objects to a word that names a file with secrets. */
const secretWord = (word: string): Objection[] => {
  const path = NAMES_FILE.exec(word)?.[1];
  const isOpen = path === undefined || path.endsWith(".pub") || path.startsWith("/dev/");
  return isOpen ? [] : readFile(path);
};

/** Kinds by name. */
export const WORD_KINDS: Readonly<Record<string, Kind>> = {
  text: { looks: true, check: each(secretWord) },
  pair: { looks: true, check: each(secretWord) },
  file_pair: { looks: true, check: each(readFile) },
  names: { looks: true },
  folder: { looks: true },
  number: {
    looks: true,
    check: each((word) => /^[-+]?[\w.:$?\uE000]*$/.test(word) ? [] : [hidden(word)]),
  },
  arithmetic: { looks: true, check: each((word) => isPlainArithmetic(word) ? [] : [hidden(word)]) },
  variable: { looks: true, check: each((word) => isVariableName(word) ? [] : [hidden(word)]) },
  name_last: {
    looks: true,
    check: (words) => words.slice(1, 2).filter((word) => !isVariableName(word)).map(hidden),
  },
  condition: {
    looks: true,
    check: (words, { args }) => {
      const at = args.indexOf("-v");
      return at < 0 || isVariableName(args[at + 1] ?? "") ? [] : words.slice(0, 1).map(hidden);
    },
  },
  assignment: {
    looks: true,
    check: (words, { args, environment }) => {
      if (words.length === 0 && environment.length === 0) {
        return [ask("secret", "It prints variables, with passwords among them")];
      }
      const computes = args.some((arg) => /^-[a-zA-Z]*i/.test(arg));
      return words.filter((word) => {
        const [, name = word, value = ""] = /^([^=]*?)\+?=(.*)$/s.exec(word) ?? [];
        return !isVariableName(name) || computes && !isPlainArithmetic(value);
      }).map(hidden);
    },
  },
  record: {
    looks: true,
    check: each((word) =>
      !word.includes("/") || RECORD.test(word) || /^\/?(dev\/)?(pts|tty)/.test(word)
        ? []
        : [nothing(`It prints \`${displayPath(word)}\``)]
    ),
  },
  processes: {
    looks: true,
    check: each((word) =>
      /^[a-zA-Z]*e[a-zA-Z]*$/.test(word)
        ? [ask("secret", "It prints the environments of processes, with passwords among it")]
        : []
    ),
  },
  settings: {
    looks: true,
    check: each((word) =>
      word.includes("=") ? [ask("defence", "It changes settings of the kernel")] : []
    ),
  },
  pieces: {
    check: (words, run) => [
      ...words.slice(0, 1).flatMap(readFile),
      ...(words[1] === undefined ? ["x"] : words.slice(1)).flatMap((word) =>
        writeFile(`${word}aa`, run)
      ),
    ],
  },
  tls: {
    looks: true,
    check: (_words, { input }) =>
      input === undefined || input.path === "/dev/null" || onlyAsks(input.text)
        ? []
        : [ask("sends", "It sends what it reads to another host")],
  },
  filter: {
    looks: true,
    check: (words, { input }) => [
      ...words.filter((word) => !SUBCOMMAND.test(word)).flatMap((word, n) =>
        n > 0 || isSecret(word) || FILE_WORD.test(word) ? readFile(word) : checkFilter(word)
      ),
      ...(input?.path === undefined ? [] : readFile(input.path)),
    ],
  },
  filters: {
    looks: true,
    check: each((word) =>
      FILE_WORD.test(word)
        ? readFile(word)
        : PLAIN_PATH.test(word)
        ? []
        : checkCode(word, "javascript").found
    ),
  },
  typed: {
    check: (_words, { input, args }) =>
      args.some((arg) => LISTS_KEYS.test(arg)) ? [] : [
        input === undefined
          ? ask("unseen", "It opens a client, in which anything can be typed")
          : ask("unseen", "What it is told by its input is not known"),
      ],
  },
  table_verbs: { looks: true, check: (words) => words.length === 0 ? [] : tableVerbs(words) },
};

/** Judges a chain of verbs: `head -n 4 then put '$a = $b + 1' file`. */
function tableVerbs(words: readonly string[]): Objection[] {
  const [verb = "", ...rest] = words;
  const next = rest.indexOf("then");
  const own = next < 0 ? rest : rest.slice(0, next);
  const later = next < 0 ? [] : tableVerbs(rest.slice(next + 1));
  if (verb === "put" || verb === "filter") {
    const text = own.find((word) => !word.startsWith("-")) ?? "";
    const options = own.filter((word) => word.startsWith("-"));
    const isPlain = options.every((one) => /^-[qSFx]$/.test(one)) && !text.includes(UNKNOWN);
    return [
      ...(isPlain ? checkTableText(text) : [nothing("What its text does can't be seen")]),
      ...own.filter((word) => word !== text).flatMap(secretWord),
      ...later,
    ];
  }
  if (verb === "join") return [...own.flatMap(readFile), ...later];
  return [
    ...(TABLE_VERBS.has(verb)
      ? []
      : [nothing(`What the verb \`${displayPath(verb)}\` does is not known`)]),
    ...own.flatMap(secretWord),
    ...later,
  ];
}
