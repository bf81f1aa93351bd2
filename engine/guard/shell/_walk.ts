/** Reads a shell line: which programs it would run, with which words, seen through whatever wraps them. */
import {
  type Command,
  forEachChild,
  type Function as ShellFunction,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type While,
} from "unbash";
import { printed } from "./_output.ts";
import { type Inner, innerOf, isShell, languageOf } from "./_wrappers.ts";
import { fieldsOf, type Scope, textOf, textOfParts } from "./_words.ts";
import { type Input, type Oddity, type Reading, type Run, UNKNOWN, type Write } from "./types.ts";

/** Stands for what would come from the network. */
export const DOWNLOADED = "\uE001";
/** Longest line that is read, in UTF-16 units; the parser needs longest for what is nested deeply. */
const LONGEST = 4_000;
const MOST_NESTED = 48;
const DEEPEST = 8;
const MOST_RUNS = 400;
const DOWNLOADERS =
  /^(curl|wget|fetch|aria2c|lynx|lwp-request|http|https|nc|ncat|netcat|socat|ftp|tftp|scp|sftp|rsync)$/;
/** Names that a glob such as `/bin/r?` may stand for, most dangerous first. */
const GLOBBED = [
  "rm",
  "dd",
  "sh",
  "bash",
  "shred",
  "mkfs",
  "chmod",
  "chown",
  "kill",
  "curl",
  "wget",
  "nc",
  "python3",
  "perl",
  "mv",
  "cat",
  "find",
];

interface State {
  readonly runs: Run[];
  readonly oddities: Set<Oddity>;
  readonly code: { language: string; text: string }[];
  /** Files that the line itself writes, so that running them is seen through. */
  readonly files: Map<string, string>;
  readonly functions: Map<string, ShellFunction>;
}
interface Place {
  readonly variables: Map<string, string>;
  folder: string | undefined;
  readonly remote: boolean;
  readonly depth: number;
}
/** What a node ran, and what it printed where that is known. */
interface Ran {
  readonly runs: readonly Run[];
  readonly text: string | undefined;
}
const NOTHING: Ran = { runs: [], text: undefined };

/** Reads a line. What can't be understood is told as an oddity; nothing is thrown and nothing is run. */
export function readShell(line: string): Reading {
  const state: State = {
    runs: [],
    oddities: new Set(),
    code: [],
    files: new Map(),
    functions: new Map(),
  };
  readText(line, { variables: new Map(), folder: undefined, remote: false, depth: 0 }, state);
  return { runs: state.runs, oddities: [...state.oddities], code: state.code };
}

function readText(text: string, place: Place, state: State): Ran {
  if (text.length > LONGEST) state.oddities.add("too_long");
  const readable = text.slice(0, LONGEST);
  if (place.depth > DEEPEST || (readable.match(/[({`]|\[\[|<</g)?.length ?? 0) > MOST_NESTED) {
    state.oddities.add("too_deep");
    return NOTHING;
  }
  const script = parse(readable);
  if (script.errors?.length) state.oddities.add("not_parsed");
  return statements(script.commands, place, state);
}

function statements(all: readonly Statement[], place: Place, state: State): Ran {
  const ran = all.map(({ command }) => walk(command, place, state, undefined, undefined));
  const texts = ran.map(({ text }) => text);
  const known = texts.filter((text) => text !== undefined && text !== "").length > 0;
  return {
    runs: ran.flatMap(({ runs }) => runs),
    text: !known ? undefined : texts.map((text, n) => text ?? unseen(ran[n]!)).join("\n"),
  };
}

function unseen({ runs }: Ran): string {
  return runs.some(({ program }) => DOWNLOADERS.test(program)) ? DOWNLOADED : UNKNOWN;
}

function walk(
  node: SyntaxNode,
  place: Place,
  state: State,
  input: Input | undefined,
  into: string | undefined,
): Ran {
  switch (node.type) {
    case "Command":
      return command(node, place, state, input, into);
    case "Statement":
      return walk(node.command, place, state, input, into);
    case "Pipeline": {
      let last: Ran | undefined;
      const runs: Run[] = [];
      node.commands.forEach((one, n) => {
        const from = last ? { text: last.text, from: last.runs } : input;
        const next = node.commands[n + 1];
        last = walk(one, place, state, from, next?.type === "Command" ? next.name?.value : into);
        runs.push(...last.runs);
      });
      return { runs, text: last?.text };
    }
    case "Script":
    case "CompoundList":
      return statements(node.commands, place, state);
    case "Subshell":
    case "BraceGroup":
      return node.type === "Subshell"
        ? statements(node.body.commands, { ...place, variables: new Map(place.variables) }, state)
        : statements(node.body.commands, place, state);
    case "Redirected": {
      const { writes, input: own } = redirected(node.redirects, place, state);
      const ran = walk(node.command, place, state, own ?? input, into);
      noteFiles(writes, ran.text, state);
      for (const write of writes) {
        record({ program: "{", writes: [write] }, place, state, input, into);
      }
      return ran;
    }
    case "For": {
      const words = (node.wordlist ?? []).flatMap((word) => fieldsOf(word, scopeOf(place, state)));
      const values = words.length > 0 ? words.slice(0, 8) : [UNKNOWN];
      return {
        ...NOTHING,
        runs: values.flatMap((value) => {
          place.variables.set(node.name.value, value);
          return statements(node.body.commands, place, state).runs;
        }),
      };
    }
    case "Function":
      if (bombs(node)) state.oddities.add("fork_bomb");
      state.functions.set(node.name.value, node);
      return walk(
        node.body,
        { ...place, variables: new Map(place.variables) },
        state,
        undefined,
        undefined,
      );
    default: {
      if (node.type === "While" && loopsForEver(node)) state.oddities.add("fork_bomb");
      const runs: Run[] = [];
      forEachChild(node, (child) => {
        if (child.type !== "Word") runs.push(...walk(child, place, state, input, into).runs);
        else fieldsOf(child, scopeOf(place, state));
      });
      return { runs, text: undefined };
    }
  }
}

/** `while true; do … & done` starts ever more. */
function loopsForEver({ clause, body }: While): boolean {
  const [first] = clause.commands;
  const always = first?.command.type === "Command" &&
    /^(true|:)$/.test(first.command.name?.value ?? "");
  return always && body.commands.some(({ background }) => background === true);
}

/** A function that calls itself through a pipe or in the background grows without end. */
function bombs({ name, body }: ShellFunction): boolean {
  let calls = 0;
  let spreads = false;
  const look = (node: SyntaxNode, depth: number): void => {
    if (depth > 12) return;
    if (node.type === "Pipeline" || node.type === "Statement" && node.background) spreads = true;
    if (node.type === "Command" && node.name?.value === name.value) calls++;
    forEachChild(node, (child) => look(child, depth + 1));
  };
  look(body, 0);
  return calls > 1 || calls === 1 && spreads;
}

function scopeOf(place: Place, state: State): Scope {
  return {
    variables: place.variables,
    outputOf: (part) => {
      if (part.script === undefined) return UNKNOWN;
      const inner = { ...place, depth: place.depth + 1, variables: new Map(place.variables) };
      if (inner.depth > DEEPEST) {
        state.oddities.add("too_deep");
        return UNKNOWN;
      }
      const { runs, text } = statements(part.script.commands, inner, state);
      if (text !== undefined) return text.trimEnd();
      return unseen({ runs, text });
    },
  };
}

function redirected(redirects: readonly Redirection[], place: Place, state: State) {
  const scope = scopeOf(place, state);
  const writes: Write[] = [];
  let input: Input | undefined;
  for (const one of redirects) {
    if (one.type === "HereDoc") {
      const { delimiter, body } = one;
      const text = delimiter?.quoted || !body.parts ? body.text : textOfParts(body.parts, scope);
      input = { text, from: [] };
    } else if (one.type === "HereString") {
      input = { text: textOf(one.target, scope), from: [] };
    } else {
      const path = textOf(one.target, scope);
      if (/^(\d+|-)$/.test(path)) continue;
      if (one.operator === "<") input = { text: state.files.get(path), from: [], path };
      else writes.push({ path, appends: one.operator.endsWith(">>") });
    }
  }
  return { writes, input };
}

function noteFiles(writes: readonly Write[], text: string | undefined, state: State): void {
  for (const { path } of writes) {
    if (!path.startsWith("/dev/") && state.files.size < 32) state.files.set(path, text ?? UNKNOWN);
  }
}

function command(
  node: Command,
  place: Place,
  state: State,
  piped: Input | undefined,
  into: string | undefined,
): Ran {
  const scope = scopeOf(place, state);
  for (const one of node.prefix) {
    if (one.type === "Assignment") {
      const value = one.value.type === "Word" ? textOf(one.value, scope) : UNKNOWN;
      place.variables.set(
        one.name,
        one.append ? (place.variables.get(one.name) ?? "") + value : value,
      );
    }
  }
  const words = node.name ? fieldsOf(node.name, scope) : [];
  for (const one of node.args) {
    if (one.type === "Word") words.push(...fieldsOf(one, scope));
    else {
      const value = one.value.type === "Word" ? textOf(one.value, scope) : UNKNOWN;
      place.variables.set(one.name, value);
      words.push(`${one.name}=${value}`);
    }
  }
  const { writes, input } = redirected(node.redirects, place, state);
  const [name, ...args] = words;
  if (name === undefined) {
    if (writes.length > 0) record({ program: ":", writes }, place, state, piped, into);
    return { runs: [], text: "" };
  }
  return programRun(name, args, writes, input ?? piped, into, place, state);
}

function programRun(
  name: string,
  args: readonly string[],
  writes: readonly Write[],
  input: Input | undefined,
  into: string | undefined,
  place: Place,
  state: State,
): Ran {
  const program = nameOf(name, state);
  const run = record({ program, args, writes }, place, state, input, into);
  const text = writes.length > 0 ? undefined : printed(program, args, input?.text);
  noteFiles(writes, printed(program, args, input?.text), state);
  if (program === "cd" || program === "pushd") {
    place.folder = args.find((arg) => !arg.startsWith("-")) ?? "~";
  }
  if (program === "set" && args[0] === "--") {
    args.slice(1).forEach((arg, n) => place.variables.set(String(n + 1), arg));
    for (const all of ["@", "*"]) place.variables.set(all, args.slice(1).join(" "));
  }
  noteDownload(program, args, state);
  const inner = [
    ...innerOf(program, args).map((one) => completed(one, program, args, input)),
    ...fromInput(program, args, input, state),
    ...fromFile(name, program, args, state),
  ];
  const ran = inner.map((one) => through(one, input, into, place, state));
  const own = state.functions.get(name);
  if (own && place.depth < DEEPEST && !state.oddities.has("fork_bomb")) {
    const variables = new Map(place.variables);
    args.forEach((arg, n) => variables.set(String(n + 1), arg));
    variables.set("@", args.join(" "));
    ran.push(walk(own.body, { ...place, variables, depth: place.depth + 1 }, state, input, into));
  }
  return { runs: [run, ...ran.flatMap(({ runs }) => runs)], text: text ?? ran.at(-1)?.text };
}

/** xargs gives what it reads to the program as further arguments. */
function completed(
  inner: Inner,
  program: string,
  args: readonly string[],
  input: Input | undefined,
): Inner {
  if (program !== "xargs" || !("argv" in inner)) return inner;
  const search = listing(input);
  if (search?.program === "find" && /^(rm|unlink|shred)$/.test(inner.argv[0] ?? "")) {
    return { argv: ["find", ...search.args, "-delete"] };
  }
  const marker = markerOf(args);
  const given = input?.text?.split(/\s+/).filter((word) => word !== "") ?? listed(search);
  const argv = marker !== undefined
    ? inner.argv.flatMap((arg) =>
      arg.includes(marker) ? given.map((one) => arg.replaceAll(marker, one)) : [arg]
    )
    : [...inner.argv, ...given];
  return { ...inner, argv: argv.slice(0, 64) };
}

/** What xargs replaces: `-I {}`, `-I{}`, `-i`. */
function markerOf(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => /^-[Ii]|^--replace/.test(arg));
  if (at < 0) return undefined;
  return /^-[Ii](.+)|^--replace=(.+)/.exec(args[at]!)?.slice(1).find((one) => one) ??
    (args[at] === "-I" ? args[at + 1] : "{}");
}

/** The program at the head of a pipe that lists files. */
function listing(input: Input | undefined): Run | undefined {
  for (const run of input?.from ?? []) {
    if (run.program === "ls" || run.program === "find") return run;
    const earlier = listing(run.input);
    if (earlier) return earlier;
  }
  return undefined;
}

/** What `ls` would list, as paths; else unknown. */
function listed(search: Run | undefined): string[] {
  const paths = search?.program === "ls" ? search.args.filter((arg) => !arg.startsWith("-")) : [];
  return paths.length > 0 ? paths : [UNKNOWN];
}

function through(
  inner: Inner,
  input: Input | undefined,
  into: string | undefined,
  place: Place,
  state: State,
): Ran {
  const deeper = {
    ...place,
    depth: place.depth + 1,
    remote: place.remote || "remote" in inner && inner.remote === true,
  };
  if (deeper.depth > DEEPEST || state.runs.length > MOST_RUNS) {
    state.oddities.add("too_deep");
    return NOTHING;
  }
  if ("argv" in inner) {
    const [name, ...args] = inner.argv;
    return name === undefined ? NOTHING : programRun(name, args, [], input, into, deeper, state);
  }
  if ("code" in inner) {
    state.code.push({ language: inner.language, text: inner.code });
    if (inner.code.includes(DOWNLOADED)) state.oddities.add("runs_downloaded");
    return NOTHING;
  }
  if (inner.script.trim().startsWith(DOWNLOADED)) state.oddities.add("runs_downloaded");
  else if (inner.script.trim().startsWith(UNKNOWN)) state.oddities.add("runs_unseen");
  return readText(inner.script, deeper, state);
}

/** A shell or an interpreter that reads its program from a pipe; at and crontab likewise. */
function fromInput(
  program: string,
  args: readonly string[],
  input: Input | undefined,
  state: State,
): Inner[] {
  if (input === undefined) return [];
  const language = languageOf(program);
  const named = args.some((arg) => !arg.startsWith("-") && arg !== "-" || /^-\w*[ce]$/.test(arg));
  const reads = isShell(program) && (!named || args.includes("-s")) || program === "at" ||
    program === "batch" ||
    program === "crontab" && args.includes("-") || language !== undefined && !named;
  if (!reads) return [];
  if (input.text === undefined || input.text.includes(UNKNOWN) && input.text.trim().length < 3) {
    const fetched = input.from.some(({ program }) => DOWNLOADERS.test(program));
    state.oddities.add(fetched ? "runs_downloaded" : "runs_unseen");
    return [];
  }
  if (
    input.from.some(({ program }) =>
      /^(base64|base32|xxd|openssl|rev|tr|gunzip|zcat|uudecode)$/.test(program)
    )
  ) {
    state.oddities.add("runs_decoded");
  }
  if (program === "crontab") {
    return input.text.split("\n").map((line) => ({
      script: line.replace(/^\s*(@\w+|(\S+\s+){5})/, ""),
    }));
  }
  return language === undefined ? [{ script: input.text }] : [{ code: input.text, language }];
}

/** A file that the same line has written or downloaded, then runs. */
function fromFile(name: string, program: string, args: readonly string[], state: State): Inner[] {
  const reads = isShell(program) || program === "source" || program === "." || languageOf(program);
  const path = reads ? args.find((arg) => !arg.startsWith("-")) : name;
  if (path === undefined) return [];
  if (path === DOWNLOADED || path.startsWith(DOWNLOADED)) state.oddities.add("runs_downloaded");
  const text = state.files.get(path) ?? state.files.get(path.replace(/^\.\//, ""));
  if (text === undefined) return [];
  if (text === DOWNLOADED) state.oddities.add("runs_downloaded");
  return text === UNKNOWN || text === DOWNLOADED ? [] : [{ script: text }];
}

function noteDownload(program: string, args: readonly string[], state: State): void {
  if (!DOWNLOADERS.test(program) || state.files.size > 32) return;
  args.forEach((arg, n) => {
    const target = /^(-o|-O|--output|--output-document|-\w*o)$/.test(arg)
      ? args[n + 1]
      : /^--output(?:-document)?=(.+)/.exec(arg)?.[1];
    if (target !== undefined && target !== "-") state.files.set(target, DOWNLOADED);
    const remote = /^https?:\/\/\S+\/([\w.-]+)$/.exec(arg)?.[1];
    if (remote && (program === "wget" || args.some((one) => /^-\w*O/.test(one)))) {
      state.files.set(remote, DOWNLOADED);
    }
  });
}

function record(
  run: { program: string; args?: readonly string[]; writes: readonly Write[] },
  { folder, remote }: Place,
  state: State,
  input: Input | undefined,
  into: string | undefined,
): Run {
  const whole: Run = { args: [], ...run, folder, remote, input, into };
  if (state.runs.length <= MOST_RUNS) state.runs.push(whole);
  return whole;
}

/** A program's plain name; globs are taken for the worst that they can stand for. */
function nameOf(word: string, state: State): string {
  const base = word.replace(/^.*[/\\]/s, "").replace(/\.exe$/i, "").toLowerCase();
  if (word.includes(DOWNLOADED)) state.oddities.add("runs_downloaded");
  if (word.includes(UNKNOWN)) state.oddities.add("hidden_program");
  if (!/[?*[]/.test(base) || base === "[" || base === "[[") return base;
  state.oddities.add("hidden_program");
  const pattern = base.slice(0, 40).replace(/[.+^${}()|\\]/g, "\\$&").replace(/\*+/g, ".*")
    .replaceAll("?", ".");
  try {
    const glob = new RegExp(`^${pattern}$`);
    return GLOBBED.find((name) => glob.test(name)) ?? base;
  } catch {
    return base;
  }
}
