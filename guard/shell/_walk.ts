/** Parses a shell line into the programs it would run, with their arguments, through whatever wraps them. */
import { type Command, forEachChild, parse, type Statement, type SyntaxNode } from "unbash";
import { isForkBomb, isForkLoop } from "./_fork_bombs.ts";
import { findInner } from "./_inner.ts";
import { outputOf } from "./_output.ts";
import { programName } from "./_program_name.ts";
import { readRedirections, recordFiles } from "./_redirections.ts";
import {
  addRun,
  DOWNLOADED,
  DOWNLOADERS,
  hasTooManyRuns,
  MAX_DEPTH,
  NO_RESULT,
  type RunContext,
  type RunResult,
  type State,
} from "./_state.ts";
import {
  type FileWrite,
  type Inner,
  type Input,
  type ParsedLine,
  type Run,
  UNKNOWN,
} from "./_types.ts";
import { fieldsOf, type Scope, wordText } from "./_words.ts";

/** Longest line that is parsed, in UTF-16 units. */
const MAX_LINE_LENGTH = 4_000;
/** Opening brackets of a line; the parser is slowest where it nests deeply. */
const MAX_NESTING = 48;

/** Parses a line. What can't be parsed becomes an issue; nothing is thrown, and nothing is run. */
export function parseLine(line: string): ParsedLine {
  const state: State = {
    runs: [],
    issues: new Set(),
    code: [],
    files: new Map(),
    aliases: new Map(),
    functions: new Map(),
  };
  walkText(line, { variables: new Map(), folder: undefined, remote: false, depth: 0 }, state);
  return { runs: state.runs, issues: [...state.issues], code: state.code };
}

function walkText(text: string, place: RunContext, state: State): RunResult {
  if (text.length > MAX_LINE_LENGTH) state.issues.add("too_long");
  const readable = text.slice(0, MAX_LINE_LENGTH);
  if (place.depth > MAX_DEPTH || (readable.match(/[({`]|\[\[|<</g)?.length ?? 0) > MAX_NESTING) {
    state.issues.add("too_deep");
    return NO_RESULT;
  }
  const script = parse(readable);
  if (script.errors?.length) state.issues.add("not_parsed");
  return walkStatements(script.commands, place, state);
}

function walkStatements(all: readonly Statement[], place: RunContext, state: State): RunResult {
  const ran = all.map(({ command }) => walkNode(command, place, state, undefined, undefined));
  const texts = ran.map(({ text }) => text);
  const hasOutput = texts.some((text) => text !== undefined && text !== "");
  return {
    runs: ran.flatMap(({ runs }) => runs),
    text: !hasOutput
      ? undefined
      : texts.map((text, n) => text ?? unknownOutput(ran[n]!)).join("\n"),
  };
}

function unknownOutput({ runs }: RunResult): string {
  return runs.some(({ program }) => DOWNLOADERS.test(program)) ? DOWNLOADED : UNKNOWN;
}

function walkNode(
  node: SyntaxNode,
  place: RunContext,
  state: State,
  input: Input | undefined,
  into: string | undefined,
): RunResult {
  switch (node.type) {
    case "Command":
      return walkCommand(node, place, state, input, into);
    case "Statement":
      return walkNode(node.command, place, state, input, into);
    case "Pipeline": {
      let last: RunResult | undefined;
      const runs: Run[] = [];
      node.commands.forEach((one, n) => {
        const from = last ? { text: last.text, from: last.runs } : input;
        const next = node.commands[n + 1];
        last = walkNode(
          one,
          place,
          state,
          from,
          next?.type === "Command" ? next.name?.value : into,
        );
        runs.push(...last.runs);
      });
      return { runs, text: last?.text };
    }
    case "Script":
    case "CompoundList":
      return walkStatements(node.commands, place, state);
    case "Subshell":
    case "BraceGroup":
      return node.type === "Subshell"
        ? walkStatements(
          node.body.commands,
          { ...place, variables: new Map(place.variables) },
          state,
        )
        : walkStatements(node.body.commands, place, state);
    case "Redirected": {
      const { writes, input: own } = readRedirections(
        node.redirects,
        createScope(place, state),
        state,
      );
      const ran = walkNode(node.command, place, state, own ?? input, into);
      recordFiles(writes, ran.text, state);
      for (const write of writes) {
        addRun({ program: "{", writes: [write] }, place, state, input, into);
      }
      return ran;
    }
    case "For": {
      const words = (node.wordlist ?? []).flatMap((word) =>
        fieldsOf(word, createScope(place, state))
      );
      const values = words.length > 0 ? words.slice(0, 8) : [UNKNOWN];
      return {
        ...NO_RESULT,
        runs: values.flatMap((value) => {
          place.variables.set(node.name.value, value);
          return walkStatements(node.body.commands, place, state).runs;
        }),
      };
    }
    case "Function":
      if (isForkBomb(node)) state.issues.add("fork_bomb");
      state.functions.set(node.name.value, node);
      return walkNode(
        node.body,
        { ...place, variables: new Map(place.variables) },
        state,
        undefined,
        undefined,
      );
    default: {
      if (node.type === "While" && isForkLoop(node)) state.issues.add("fork_bomb");
      const runs: Run[] = [];
      forEachChild(node, (child) => {
        if (child.type !== "Word") runs.push(...walkNode(child, place, state, input, into).runs);
        else fieldsOf(child, createScope(place, state));
      });
      return { runs, text: undefined };
    }
  }
}

function createScope(place: RunContext, state: State): Scope {
  return {
    variables: place.variables,
    outputOf: (part) => {
      if (part.script === undefined) return UNKNOWN;
      const inner = { ...place, depth: place.depth + 1, variables: new Map(place.variables) };
      if (inner.depth > MAX_DEPTH) {
        state.issues.add("too_deep");
        return UNKNOWN;
      }
      const { runs, text } = walkStatements(part.script.commands, inner, state);
      if (text !== undefined) return text.trimEnd();
      return unknownOutput({ runs, text });
    },
  };
}

function walkCommand(
  node: Command,
  place: RunContext,
  state: State,
  piped: Input | undefined,
  into: string | undefined,
): RunResult {
  const scope = createScope(place, state);
  for (const one of node.prefix) {
    if (one.type === "Assignment") {
      const value = one.value.type === "Word" ? wordText(one.value, scope) : UNKNOWN;
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
      const value = one.value.type === "Word" ? wordText(one.value, scope) : UNKNOWN;
      place.variables.set(one.name, value);
      words.push(`${one.name}=${value}`);
    }
  }
  const { writes, input } = readRedirections(node.redirects, scope, state);
  const [name, ...args] = words;
  if (name === undefined) {
    if (writes.length > 0) addRun({ program: ":", writes }, place, state, piped, into);
    return { runs: [], text: "" };
  }
  return walkProgram(name, args, writes, input ?? piped, into, place, state);
}

function walkProgram(
  name: string,
  args: readonly string[],
  writes: readonly FileWrite[],
  input: Input | undefined,
  into: string | undefined,
  place: RunContext,
  state: State,
): RunResult {
  const program = programName(name, state);
  const run = addRun({ program, args, writes }, place, state, input, into);
  const text = writes.length > 0 ? undefined : outputOf(program, args, input?.text);
  recordFiles(writes, outputOf(program, args, input?.text), state);
  if (program === "cd" || program === "pushd") {
    place.folder = args.find((arg) => !arg.startsWith("-")) ?? "~";
  }
  if (program === "set" && args[0] === "--") {
    args.slice(1).forEach((arg, n) => place.variables.set(String(n + 1), arg));
    for (const all of ["@", "*"]) place.variables.set(all, args.slice(1).join(" "));
  }
  const ran = findInner(name, program, args, input, state)
    .map((one) => walkInner(one, input, into, place, state));
  const own = state.functions.get(name);
  if (own && place.depth < MAX_DEPTH && !state.issues.has("fork_bomb")) {
    const variables = new Map(place.variables);
    args.forEach((arg, n) => variables.set(String(n + 1), arg));
    variables.set("@", args.join(" "));
    ran.push(
      walkNode(own.body, { ...place, variables, depth: place.depth + 1 }, state, input, into),
    );
  }
  return { runs: [run, ...ran.flatMap(({ runs }) => runs)], text: text ?? ran.at(-1)?.text };
}

function walkInner(
  inner: Inner,
  input: Input | undefined,
  into: string | undefined,
  place: RunContext,
  state: State,
): RunResult {
  const deeper = {
    ...place,
    depth: place.depth + 1,
    remote: place.remote || "remote" in inner && inner.remote === true,
  };
  if (deeper.depth > MAX_DEPTH || hasTooManyRuns(state)) {
    state.issues.add("too_deep");
    return NO_RESULT;
  }
  if ("argv" in inner) {
    const [name, ...args] = inner.argv;
    return name === undefined ? NO_RESULT : walkProgram(name, args, [], input, into, deeper, state);
  }
  if ("code" in inner) {
    state.code.push({ language: inner.language, text: inner.code });
    if (inner.code.includes(DOWNLOADED)) state.issues.add("runs_downloaded");
    return NO_RESULT;
  }
  if (inner.script.trim().startsWith(DOWNLOADED)) state.issues.add("runs_downloaded");
  else if (inner.script.trim().startsWith(UNKNOWN)) state.issues.add("runs_unseen");
  return walkText(inner.script, deeper, state);
}
