/** Finds the programs that a program is given to run: by arguments, a pipe, xargs, or a file that the same line wrote. */
import { mayNameSecret } from "./_places.ts";
import { DOWNLOADED, DOWNLOADERS, type State } from "./_state.ts";
import { type Inner, type Input, type Run, UNKNOWN } from "./_types.ts";
import { isShell, languageOf, unwrap } from "./_wrappers.ts";

/** Returns everything that a program would run besides itself. @param name as it is written, with its folder */
export function findInner(
  name: string,
  program: string,
  args: readonly string[],
  input: Input | undefined,
  state: State,
): Inner[] {
  recordDownloads(program, args, state);
  return [
    ...unwrap(program, args).map((one) => addXargsInput(one, program, args, input)),
    ...fromInput(program, args, input, state),
    ...fromFile(name, program, args, state),
    ...fromAlias(name, args, state),
  ];
}

/** Programs of a pipe that leave lines out, or order them, and change nothing in them. */
const KEEPS_LINES =
  /^(cat|grep|egrep|fgrep|head|tail|sort|uniq|tac|shuf|tee|column|less|pv|stdbuf|sudo|nice|timeout|wc|xargs)$/;

/** Tells whether a program of a pipe hands on names as they came: awk may print a column, tr may separate them otherwise. */
function keepsLines({ program, args }: Run): boolean {
  if (program === "awk") return args.some((arg) => /^[^{]*\{ *print *\$(\d+|NF) *\}$/.test(arg));
  if (program === "tr") return args.every((arg) => /^(\\[n0]|-d|"|')$/.test(arg));
  return KEEPS_LINES.test(program);
}

/** Adds to the arguments what xargs would add from its input. */
function addXargsInput(
  inner: Inner,
  program: string,
  args: readonly string[],
  input: Input | undefined,
): Inner {
  if (program === "parallel" && "script" in inner) {
    return { ...inner, script: addParallelInput(inner.script) };
  }
  if (program !== "xargs" || !("argv" in inner)) return inner;
  const search = findLister(input);
  if (search?.program === "find" && /^(rm|unlink|shred)$/.test(inner.argv[0] ?? "")) {
    return { argv: ["find", ...search.args, "-delete"] };
  }
  const marker = xargsMarker(args);
  const added = input?.text?.split(/\s+/).filter((word) => word !== "") ?? listedPaths(search);
  const argv = marker !== undefined
    ? inner.argv.flatMap((arg) =>
      arg.includes(marker) ? added.map((one) => arg.replaceAll(marker, one)) : [arg]
    )
    : [...inner.argv, ...added];
  return { ...inner, argv: argv.slice(0, 64) };
}

/** Adds to a line what parallel would add: its values after `:::`, or what its input brings. */
function addParallelInput(script: string): string {
  const [line = "", ...lists] = script.split(/ :::+\+? ?/);
  const isKnown = lists.length > 0 && !script.includes("::::");
  const value = isKnown ? lists.join(" ") : UNKNOWN;
  const marks = /\{[./#%]*\d*[./]*\}/g;
  return marks.test(line) ? line.replace(marks, () => value) : `${line} ${value}`;
}

/** Returns the text that xargs replaces: `-I {}`, `-I{}`, `-i`. */
function xargsMarker(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => /^-[Ii]|^--replace/.test(arg));
  if (at < 0) return undefined;
  return /^-[Ii](.+)|^--replace=(.+)/.exec(args[at]!)?.slice(1).find((one) => one) ??
    (args[at] === "-I" ? args[at + 1] : "{}");
}

/** Returns the program of a pipe that lists files; undefined: there is none, or others may change the names after it. */
function findLister(input: Input | undefined): Run | undefined {
  for (const run of input?.from ?? []) {
    if (run.program === "ls" || run.program === "find") return run;
    if (!keepsLines(run)) continue;
    const earlier = findLister(run.input);
    if (earlier) return earlier;
  }
  return undefined;
}

/** Returns the names with secrets for which `find` looks. */
function secretNames(args: readonly string[]): string[] {
  return args.filter((arg, n) => /^-i?name$/.test(args[n - 1] ?? "") && mayNameSecret(arg));
}

/** Returns the paths that `ls` would list: those in a folder are listed without it. Otherwise they are unknown. */
function listedPaths(search: Run | undefined): string[] {
  if (search?.program === "find") return [UNKNOWN, ...secretNames(search.args)];
  const paths = search?.program === "ls" ? search.args.filter((arg) => !arg.startsWith("-")) : [];
  const isWhole = search?.args.some((arg) => /^-\w*d|^--directory$/.test(arg)) ||
    paths.every((path) => /[*?[]/.test(path));
  return paths.length > 0 && isWhole ? paths : [UNKNOWN, ...paths];
}

/** Returns the program text that a shell, an interpreter, at or crontab reads from a pipe. */
function fromInput(
  program: string,
  args: readonly string[],
  input: Input | undefined,
  state: State,
): Inner[] {
  if (input === undefined) return [];
  const language = languageOf(program);
  const hasScript = args.some((arg) =>
    !arg.startsWith("-") && arg !== "-" || /^-\w*[ce]$/.test(arg)
  );
  const reads = isShell(program) && (!hasScript || args.includes("-s")) || program === "at" ||
    program === "batch" ||
    program === "crontab" && args.includes("-") || language !== undefined && !hasScript;
  if (!reads) return [];
  if (input.text === undefined || input.text.includes(UNKNOWN) && input.text.trim().length < 3) {
    const isDownloaded = input.from.some(({ program }) => DOWNLOADERS.test(program));
    state.issues.add(isDownloaded ? "runs_downloaded" : "runs_unseen");
    return [];
  }
  if (
    input.from.some(({ program }) =>
      /^(base64|base32|xxd|openssl|rev|tr|gunzip|zcat|uudecode)$/.test(program)
    )
  ) {
    state.issues.add("runs_decoded");
  }
  if (program === "crontab") {
    return input.text.split("\n").map((line) => ({
      script: line.replace(/^\s*(@\w+|(\S+\s+){5})/, ""),
    }));
  }
  return language === undefined ? [{ script: input.text }] : [{ code: input.text, language }];
}

/** Returns the content of a file that the same line has written or downloaded, and runs. */
function fromFile(name: string, program: string, args: readonly string[], state: State): Inner[] {
  const reads = isShell(program) || program === "source" || program === "." || languageOf(program);
  const path = reads ? args.find((arg) => !arg.startsWith("-")) : name;
  if (path === undefined) return [];
  if (path === DOWNLOADED || path.startsWith(DOWNLOADED)) state.issues.add("runs_downloaded");
  if (reads && path.startsWith(UNKNOWN)) state.issues.add("runs_unseen");
  const inline = args.some((arg) => /^-\w*c/.test(arg)) || languageOf(program) !== undefined;
  if (reads && !inline && /[\s;|&]/.test(path)) return [{ script: path }]; // of `source <(…)`
  const text = state.files.get(path) ?? state.files.get(path.replace(/^\.\//, ""));
  if (text === undefined) return [];
  if (text === DOWNLOADED) state.issues.add("runs_downloaded");
  return text === UNKNOWN || text === DOWNLOADED ? [] : [{ script: text }];
}

function recordDownloads(program: string, args: readonly string[], state: State): void {
  if (!DOWNLOADERS.test(program) || state.files.size > 32) return;
  args.forEach((arg, n) => {
    const target = /^(--output|--output-document|-\w*[oO])$/.test(arg)
      ? args[n + 1]
      : /^--output(?:-document)?=(.+)/.exec(arg)?.[1];
    if (target !== undefined && target !== "-") state.files.set(target, DOWNLOADED);
    const remote = /^https?:\/\/\S+\/([\w.-]+)$/.exec(arg)?.[1];
    if (remote && (program === "wget" || args.some((one) => /^-\w*O/.test(one)))) {
      state.files.set(remote, DOWNLOADED);
    }
  });
}

/** Returns the meaning of a word that an `alias` of the same line defined. */
function fromAlias(name: string, args: readonly string[], { aliases }: State): Inner[] {
  if (name === "alias") {
    for (const arg of args) {
      const [, word, meaning] = /^([\w.-]+)=(.*)$/s.exec(arg) ?? [];
      if (word !== undefined && meaning!.split(" ")[0] !== word) aliases.set(word, meaning!);
    }
  }
  const meaning = aliases.get(name);
  return meaning === undefined ? [] : [{ script: [meaning, ...args.map(quote)].join(" ") }];
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
