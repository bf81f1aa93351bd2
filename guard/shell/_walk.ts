/** Reads a shell line: which programs it would run, with which words, seen through whatever wraps them. */
import { type Command, forEachChild, parse, type Statement, type SyntaxNode } from "unbash";
import { bombs, loopsForEver } from "./_endless.ts";
import { handedTo } from "./_handed.ts";
import { nameOf } from "./_names.ts";
import { printed } from "./_output.ts";
import { noteFiles, redirected } from "./_redirections.ts";
import {
  DEEPEST,
  DOWNLOADED,
  DOWNLOADERS,
  isTooMuch,
  NOTHING,
  type Place,
  type Ran,
  record,
  type State,
} from "./_state.ts";
import type { Inner } from "./_wrappers.ts";
import { fieldsOf, type Scope, textOf } from "./_words.ts";
import { type Input, type Reading, type Run, UNKNOWN, type Write } from "./_types.ts";

/** Longest line that is read, in UTF-16 units; the parser needs longest for what is nested deeply. */
const LONGEST = 4_000;
const MOST_NESTED = 48;

/** Reads a line. What can't be understood is told as an oddity; nothing is thrown and nothing is run. */
export function readShell(line: string): Reading {
  const state: State = {
    runs: [],
    oddities: new Set(),
    code: [],
    files: new Map(),
    aliases: new Map(),
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
      const { writes, input: own } = redirected(node.redirects, scopeOf(place, state), state);
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
  const { writes, input } = redirected(node.redirects, scope, state);
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
  const ran = handedTo(name, program, args, input, state)
    .map((one) => through(one, input, into, place, state));
  const own = state.functions.get(name);
  if (own && place.depth < DEEPEST && !state.oddities.has("fork_bomb")) {
    const variables = new Map(place.variables);
    args.forEach((arg, n) => variables.set(String(n + 1), arg));
    variables.set("@", args.join(" "));
    ran.push(walk(own.body, { ...place, variables, depth: place.depth + 1 }, state, input, into));
  }
  return { runs: [run, ...ran.flatMap(({ runs }) => runs)], text: text ?? ran.at(-1)?.text };
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
  if (deeper.depth > DEEPEST || isTooMuch(state)) {
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
