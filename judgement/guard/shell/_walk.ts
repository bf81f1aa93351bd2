/** Parses a shell line into the programs it would run, with their arguments, through whatever wraps them. */
import {
  type AndOr,
  type Command,
  forEachChild,
  parse,
  type Statement,
  type SyntaxNode,
  type Word,
} from "unbash";
import { arithmeticText, evaluatedValues, evaluatesWords, hasSubstitution } from "./_evaluated.ts";
import { isForkBomb, isForkLoop } from "./_fork_bombs.ts";
import { findInner } from "./_inner.ts";
import { outputOf } from "./_output.ts";
import { normalizePath } from "./_paths.ts";
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
  type Assignment,
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

/** Substitutions of zsh and ksh, and of old shells, that run text. */
const OTHER_SHELL = /\$\{[\s(|]|\$\[|[*?]\([^)]{0,20}[e+]['":{]/;

/** Values of a loop that are followed. */
const MAX_ROUNDS = 24;

/** Parses a line. What can't be parsed becomes an issue; nothing is thrown, and nothing is run. */
export function parseLine(line: string): ParsedLine {
  const state: State = {
    runs: [],
    issues: new Set(),
    code: [],
    isErrorChecked: false,
    files: new Map(),
    aliases: new Map(),
    functions: new Map(),
    integers: new Set(),
  };
  walkText(line, {
    variables: new Map(),
    folder: undefined,
    isFolderSure: true,
    remote: false,
    depth: 0,
  }, state);
  return { runs: state.runs, issues: [...state.issues], code: state.code };
}

function walkText(text: string, context: RunContext, state: State): RunResult {
  if (text.length > MAX_LINE_LENGTH) state.issues.add("too_long");
  const readText = text.slice(0, MAX_LINE_LENGTH);
  if (context.depth > MAX_DEPTH || (readText.match(/[({`]|\[\[|<</g)?.length ?? 0) > MAX_NESTING) {
    state.issues.add("too_deep");
    return NO_RESULT;
  }
  if (OTHER_SHELL.test(readText)) state.issues.add("runs_unseen");
  const script = parse(readText);
  if (script.errors?.length) state.issues.add("not_parsed");
  return walkStatements(script.commands, context, state);
}

function walkStatements(all: readonly Statement[], context: RunContext, state: State): RunResult {
  const results = all.map(({ command }) => {
    const { folder } = context;
    const result = walkNode(command, context, state, undefined, undefined);
    // The next statement runs also where `cd` failed, unless the line ends then: `set -e`, `cd x || exit`.
    const isChecked = state.isErrorChecked || command.type === "AndOr" && endsOnFailure(command);
    if (context.folder !== folder && !isChecked) context.isFolderSure = false;
    return result;
  });
  const texts = results.map(({ text }) => text);
  const hasOutput = texts.some((text) => text !== undefined && text !== "");
  return {
    runs: results.flatMap(({ runs }) => runs),
    text: !hasOutput
      ? undefined
      : texts.map((text, n) => text ?? unknownOutput(results[n]!)).join("\n"),
  };
}

/** Tells whether a list such as `cd x || exit 1` goes on only where its first program succeeded. */
function endsOnFailure({ commands, operators }: AndOr): boolean {
  const last = commands.at(-1);
  return operators.at(-1) === "||" && last?.type === "Command" &&
    /^(exit|return)$/.test(last.name?.value ?? "");
}

function unknownOutput({ runs }: RunResult): string {
  return runs.some(({ program }) => DOWNLOADERS.test(program)) ? DOWNLOADED : UNKNOWN;
}

function walkNode(
  node: SyntaxNode,
  context: RunContext,
  state: State,
  input: Input | undefined,
  into: string | undefined,
): RunResult {
  switch (node.type) {
    case "Command":
      return walkCommand(node, context, state, input, into);
    case "Statement":
      return walkNode(node.command, context, state, input, into);
    case "Pipeline": {
      let last: RunResult | undefined;
      const runs: Run[] = [];
      node.commands.forEach((one, n) => {
        const from = last ? { text: last.text, from: last.runs } : input;
        const next = node.commands[n + 1];
        // Each program of a pipe has a folder of its own.
        last = walkNode(
          one,
          node.commands.length > 1 ? { ...context } : context,
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
      return walkStatements(node.commands, context, state);
    case "Subshell":
    case "BraceGroup":
      return node.type === "Subshell"
        ? walkStatements(
          node.body.commands,
          { ...context, variables: new Map(context.variables) },
          state,
        )
        : walkStatements(node.body.commands, context, state);
    case "Redirected": {
      const { writes, input: own } = readRedirections(
        node.redirects,
        createScope(context, state),
        state,
      );
      const result = walkNode(node.command, context, state, own ?? input, into);
      recordFiles(writes, result.text, state);
      if (own?.path !== undefined) addRun({ program: "{" }, context, state, own, into);
      for (const write of writes) {
        addRun({ program: "{", writes: [write] }, context, state, input, into);
      }
      return result;
    }
    case "For": {
      const words = (node.wordlist ?? []).flatMap((word) =>
        fieldsOf(word, createScope(context, state))
      );
      if (words.length > MAX_ROUNDS) state.issues.add("too_long");
      const values = words.length > 0 ? words.slice(0, MAX_ROUNDS) : [UNKNOWN];
      return {
        ...NO_RESULT,
        runs: values.flatMap((value) => {
          context.variables.set(node.name.value, value);
          return walkStatements(node.body.commands, context, state).runs;
        }),
      };
    }
    case "Function":
      if (isForkBomb(node)) state.issues.add("fork_bomb");
      state.functions.set(node.name.value, node);
      return walkNode(
        node.body,
        { ...context, variables: new Map(context.variables) },
        state,
        undefined,
        undefined,
      );
    case "AndOr": {
      const runs: Run[] = [];
      const before = { folder: context.folder, isFolderSure: context.isFolderSure };
      node.commands.forEach((one, n) => {
        // After `||` the program before it has failed, and has not changed the folder.
        const isElse = node.operators[n - 1] === "||";
        const inner = isElse ? { ...context, ...before } : context;
        runs.push(...walkNode(one, inner, state, n === 0 ? input : undefined, into).runs);
        if (isElse && inner.folder !== before.folder) context.isFolderSure = false;
      });
      return { runs, text: undefined };
    }
    default: {
      if (node.type === "While" && isForkLoop(node)) state.issues.add("fork_bomb");
      if (node.type === "ArithmeticCommand") evaluate(node.body, context, state);
      if (node.type === "ArithmeticFor") {
        for (const one of [node.initialize, node.test, node.update]) {
          evaluate(arithmeticText(one), context, state);
        }
      }
      const runs: Run[] = [];
      forEachChild(node, (child) => {
        if (child.type !== "Word") runs.push(...walkNode(child, context, state, input, into).runs);
        else evaluateQuoted(wordText(child, createScope(context, state)), context, state);
      });
      return { runs, text: undefined };
    }
  }
}

/** Walks what arithmetic text runs: its substitutions, and the values of the variables that it names. */
function evaluate(text: string, context: RunContext, state: State): void {
  if (hasSubstitution(text)) walkSubstitutions(text, context, state);
  for (const value of evaluatedValues(text, context.variables)) {
    evaluateQuoted(value, context, state);
  }
}

/** Walks what text runs that was quoted: no honest line has a substitution in it. */
function evaluateQuoted(text: string, context: RunContext, state: State): void {
  if (!hasSubstitution(text)) return;
  state.issues.add("runs_unseen");
  walkSubstitutions(text, context, state);
}

function walkSubstitutions(text: string, context: RunContext, state: State): void {
  if (context.depth >= MAX_DEPTH) return void state.issues.add("too_deep");
  const deeper = { ...context, depth: context.depth + 1, variables: new Map(context.variables) };
  walkText(`: "${text.replace(/\\?"/g, " ").replace(/\\\$/g, "$")}"`, deeper, state);
}

function createScope(context: RunContext, state: State): Scope {
  return {
    variables: context.variables,
    evaluate: (text) => evaluate(text, context, state),
    evaluateQuoted: (text) => evaluateQuoted(text, context, state),
    hide: () => state.issues.add("runs_unseen"),
    outputOf: (part) => {
      if (part.script === undefined) return UNKNOWN;
      const inner = { ...context, depth: context.depth + 1, variables: new Map(context.variables) };
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
  context: RunContext,
  state: State,
  piped: Input | undefined,
  into: string | undefined,
): RunResult {
  const scope = createScope(context, state);
  const assigned: Assignment[] = [];
  for (const one of node.prefix) {
    if (one.type !== "Assignment") continue;
    const value = one.value.type === "Word" ? wordText(one.value, scope) : UNKNOWN;
    if (one.index) {
      evaluateQuoted(wordText(one.index, scope), context, state);
      evaluate(one.index.text, context, state);
    }
    const before = one.append ? context.variables.get(one.name) ?? "" : "";
    context.variables.set(one.name, before + value);
    if (state.integers.has(one.name)) evaluate(value, context, state);
    assigned.push({ name: one.name, value: before + value, isExported: node.name !== undefined });
  }
  const words = node.name ? fieldsOf(node.name, scope) : [];
  const exports = /^(export|env)$/.test(words[0] ?? "") ||
    node.args.some((one) => one.type === "Word" && /^-\w*x/.test(one.value ?? ""));
  for (const one of node.args) {
    const assignment = one.type === "Word" ? undefined : one;
    if (!assignment) {
      words.push(...fieldsOf(one as Word, scope));
      if (hasDefault(one as Word, context)) words.push(UNKNOWN);
    } else {
      const value = assignment.value.type === "Word" ? wordText(assignment.value, scope) : UNKNOWN;
      context.variables.set(assignment.name, value);
      words.push(`${assignment.name}=${value}`);
      assigned.push({ name: assignment.name, value, isExported: exports });
    }
  }
  const { writes, input } = readRedirections(node.redirects, scope, state);
  const [name, ...args] = words;
  const shown = node.redirects.flatMap((one) => one.type === "HereString" ? one.target ?? [] : []);
  if (PRINTS.test(name ?? "")) shown.push(...node.args as readonly Word[]);
  if (shown.some(namesSecret)) {
    state.issues.add("prints_secret");
  }
  if (name !== undefined && ASSIGNS.test(name) && args.some((arg) => /^-\w*i/.test(arg))) {
    for (const arg of args) state.integers.add(arg.replace(/\+?=.*$/s, ""));
  }
  if (name !== undefined && ASSIGNS.test(name)) assigned.push(...quotedAssignments(args, assigned));
  if (name === undefined) {
    if (writes.length > 0 || assigned.length > 0 || input?.path !== undefined) {
      addRun({ program: ":", writes, environment: assigned }, context, state, input ?? piped, into);
    }
    return { runs: [], text: "" };
  }
  return walkProgram(name, args, writes, assigned, input ?? piped, into, context, state);
}

/** Names of variables that hold passwords and keys. */
const SECRET_NAME =
  /\$\{?\w*?(secret|passw|(?<![A-Za-z])pass(?![A-Za-z])|token|api_?key|access_?key|private_?key|credential)\w*/i;
/** Programs that print their arguments. */
const PRINTS = /^(echo|printf|print|logger|wall)$/;

function namesSecret({ text }: { readonly text: string }): boolean {
  return SECRET_NAME.test(text);
}

/** Programs whose words set variables. */
const ASSIGNS = /^(export|declare|typeset|local|readonly)$/;

/** Returns assignments that are quoted as a whole, which the parser takes for plain words. */
function quotedAssignments(
  args: readonly string[],
  known: readonly Assignment[],
): readonly Assignment[] {
  return args.flatMap((arg) => {
    const [, name, value] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(arg) ?? [];
    if (name === undefined || known.some((one) => one.name === name)) return [];
    return [{ name, value: value!, isExported: true }];
  });
}

/** Tells whether a word has a value such as `${DIR:-/tmp/x}` of a variable that the surroundings may have set. */
function hasDefault({ text }: Word, { variables }: RunContext): boolean {
  const name = /\$\{(\w+):?[-=?]/.exec(text)?.[1];
  return name !== undefined && !variables.has(name);
}

function walkProgram(
  name: string,
  args: readonly string[],
  writes: readonly FileWrite[],
  environment: readonly Assignment[],
  input: Input | undefined,
  into: string | undefined,
  context: RunContext,
  state: State,
): RunResult {
  const program = programName(name, state);
  const run = addRun(
    { program, path: name, args, writes, environment },
    context,
    state,
    input,
    into,
  );
  const text = writes.length > 0 ? undefined : outputOf(program, args, input?.text);
  recordFiles(writes, outputOf(program, args, input?.text), state);
  if (program === "cd" || program === "pushd") {
    const to = args.includes("-") ? UNKNOWN : args.find((arg) => !arg.startsWith("-")) ?? "~";
    context.folder = normalizePath(to, context.folder);
  }
  if (program === "popd") context.folder = UNKNOWN;
  if (evaluatesWords(program)) { for (const arg of args) evaluateQuoted(arg, context, state); }
  forgetVariables(program, args, context);
  if (program === "set" && args.some((arg) => /^-\w*e/.test(arg))) state.isErrorChecked = true;
  if (program === "set" && args[0] === "--") {
    args.slice(1).forEach((arg, n) => context.variables.set(String(n + 1), arg));
    for (const all of ["@", "*"]) context.variables.set(all, args.slice(1).join(" "));
  }
  const inner = findInner(name, program, args, input, state)
    .map((one) => walkInner(one, input, into, context, state));
  const own = state.functions.get(name);
  if (own && context.depth < MAX_DEPTH && !state.issues.has("fork_bomb")) {
    const variables = new Map(context.variables);
    args.forEach((arg, n) => variables.set(String(n + 1), arg));
    variables.set("@", args.join(" "));
    inner.push(
      walkNode(own.body, { ...context, variables, depth: context.depth + 1 }, state, input, into),
    );
  }
  return { runs: [run, ...inner.flatMap(({ runs }) => runs)], text: text ?? inner.at(-1)?.text };
}

/** Forgets the values of variables that a program sets from its input. */
function forgetVariables(program: string, args: readonly string[], context: RunContext): void {
  const names = /^(read|mapfile|readarray|getopts)$/.test(program)
    ? args.filter((arg) => /^[A-Za-z_]\w*$/.test(arg))
    : program === "printf" && args[0] === "-v"
    ? args.slice(1, 2)
    : [];
  for (const name of names) context.variables.set(name, UNKNOWN);
}

function walkInner(
  inner: Inner,
  input: Input | undefined,
  into: string | undefined,
  context: RunContext,
  state: State,
): RunResult {
  const goesAway = "remote" in inner && inner.remote === true;
  const deeper = {
    ...context,
    ...(goesAway ? { folder: undefined, isFolderSure: true } : {}),
    depth: context.depth + 1,
    remote: context.remote || goesAway,
  };
  if (deeper.depth > MAX_DEPTH || hasTooManyRuns(state)) {
    state.issues.add("too_deep");
    return NO_RESULT;
  }
  if ("argv" in inner) {
    const [name, ...args] = inner.argv;
    const environment = inner.environment ?? [];
    if (name === undefined) {
      if (environment.length > 0) {
        addRun({ program: ":", environment }, context, state, input, into);
      }
      return NO_RESULT;
    }
    return walkProgram(name, args, [], environment, input, into, deeper, state);
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
