import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { z } from "zod";
import {
  BadFile,
  type Explain,
  type FileSource,
  fileSource,
  type Mistake,
  readYaml,
} from "../../integrations/files/mod.ts";
import { isInterpreter } from "./commands.ts";
import {
  type AllowedCommand,
  CommandsFile,
  kindOfStep,
  type RunbookDocument,
  RunbookFile,
} from "./schema.ts";

/** A runbook, with the hash of its file. */
export interface Runbook extends RunbookDocument {
  /** Shipped with the product, or from the user's own folder. */
  readonly origin: "shipped" | "user";
  /** Over the bytes of its file. */
  readonly sha256: string;
}

/** All runbooks, and the commands that they may run. */
export interface Catalogue {
  readonly runbooks: readonly Runbook[];
  readonly commands: readonly AllowedCommand[];
  /** Over the files of the allow-list. */
  readonly commands_sha256: string;
  /** Folder of the user's own. */
  readonly source: FileSource;
}

/** A runbook's file is wrong; the message names file and line. */
export class BadRunbook extends BadFile {
  override readonly name = "BadRunbook";
}

/** A mistake that a schema can't find, with its place. */
type Inconsistency = [path: PropertyKey[], text: string];

/** Name of the file with the allow-list, in each folder of runbooks. */
const COMMANDS_FILE = "commands.yaml";
const NO_FOLDER: FileSource = { name: "", exists: false };

/**
 * Reads all runbooks. One of the user's replaces the shipped one of the same name; the commands of both allow-lists are
 * allowed.
 *
 * @param shipped folder of those that come with the product
 * @param own the user's folder; it need not exist
 * @throws {BadRunbook} names each file and line, what is wrong, and what would be right
 */
export function loadRunbooks(shipped: string, own?: string): Catalogue {
  const ours = readFolder(shipped, "shipped");
  const theirs = own && existsSync(own)
    ? readFolder(own, "user")
    : { runbooks: [], commands: [], texts: [] };
  const replaced = new Set(theirs.runbooks.map(({ runbook }) => runbook));
  const runbooks = [
    ...ours.runbooks.filter(({ runbook }) => !replaced.has(runbook)),
    ...theirs.runbooks,
  ];
  return {
    runbooks: runbooks.sort((a, b) => a.runbook < b.runbook ? -1 : 1),
    commands: [...theirs.commands, ...ours.commands],
    commands_sha256: sha256([...ours.texts, ...theirs.texts].join("\0")),
    source: own === undefined ? NO_FOLDER : fileSource(own),
  };
}

function readFolder(folder: string, origin: Runbook["origin"]) {
  const runbooks: Runbook[] = [];
  const commands: AllowedCommand[] = [];
  const texts: string[] = [];
  for (const name of readdirSync(folder).filter((one) => /\.ya?ml$/.test(one)).sort()) {
    const path = join(folder, name);
    const text = readFileSync(path, "utf8");
    if (name === COMMANDS_FILE) {
      commands.push(...parseFile(path, text, CommandsFile, checkCommands).commands);
      texts.push(text);
    } else {
      const document = parseFile(path, text, RunbookFile, checkRunbook);
      runbooks.push({ ...document, origin, sha256: sha256(text) });
    }
  }
  const names = runbooks.map(({ runbook }) => runbook);
  const duplicate = names.find((name, i) => names.indexOf(name) !== i);
  if (duplicate) {
    throw new BadRunbook([{ line: 1, text: `there are two runbooks named ${duplicate}` }], folder);
  }
  return { runbooks, commands, texts };
}

function parseFile<T extends z.ZodType>(
  path: string,
  text: string,
  schema: T,
  findInconsistencies: (document: z.output<T>, file: string) => Inconsistency[],
): z.output<T> {
  const fail = (mistakes: readonly Mistake[]): never => {
    throw new BadRunbook(mistakes, path);
  };
  const read = readYaml(text, schema, explain);
  if ("mistakes" in read) return fail(read.mistakes);
  const mistakes = findInconsistencies(read.value, basename(path))
    .map(([at, text]) => ({ ...read.placeOf(at), text }));
  return mistakes.length > 0 ? fail(mistakes) : read.value;
}

const explain: Explain = ({ code }) =>
  code === "invalid_union" ? "is none of the forms that docs/runbooks.md lists" : undefined;

function checkRunbook(document: RunbookDocument, file: string): Inconsistency[] {
  const { runbook, steps, match } = document;
  const found: Inconsistency[] = [];
  if (file.replace(/\.ya?ml$/, "") !== runbook) {
    found.push([["runbook"], `the file of ${runbook} must be named ${runbook}.yaml`]);
  }
  if (Object.values(match).every((one) => one === undefined)) {
    found.push([["match"], "expected at least one of categories, services, types, findings"]);
  }
  const kinds = new Map<string, string>();
  steps.forEach((step, i) => {
    for (const [at, text] of checkStep(step, document, kinds)) {
      found.push([["steps", i, ...at], text]);
    }
    const kind = kindOfStep(step);
    if (kind) kinds.set(step.step, kind);
  });
  return found;
}

/** @param kinds of the steps before it, by name */
function checkStep(
  step: RunbookDocument["steps"][number],
  { parameters }: RunbookDocument,
  kinds: ReadonlyMap<string, string>,
): Inconsistency[] {
  const found: Inconsistency[] = [];
  const kind = kindOfStep(step);
  if (!kind) found.push([[], `${step.step} must have exactly one kind of act`]);
  if (kinds.has(step.step)) found.push([[], `there are two steps named ${step.step}`]);
  if (step.purge && kinds.get(step.purge.step) !== "clean") {
    found.push([["purge"], `no clean step ${step.purge.step} comes before it`]);
  }
  if ("put_back" in step.undo && kind !== "clean") {
    found.push([["undo"], "only files that a clean step has moved can be put back"]);
  }
  if (step.look && !("none" in step.undo)) {
    found.push([["undo"], "a look changes nothing that could be undone"]);
  }
  if ("script" in step.undo && kind !== "script") {
    found.push([["undo"], "only a script of the catalogue has an opposite there"]);
  }
  if (step.wait && !step.wait.for && !step.wait.at_least) {
    found.push([["wait"], "expected what to wait for, or how long at_least"]);
  }
  for (const [, name] of JSON.stringify(step).matchAll(/\{([a-z][a-z_]*)\}/g)) {
    if (name === "service" || name! in parameters) continue;
    found.push([[], `there is no parameter {${name}}`]);
  }
  return found;
}

function checkCommands({ commands }: z.output<typeof CommandsFile>): Inconsistency[] {
  return commands.flatMap(({ argv, more }, i) => {
    const found: Inconsistency[] = [];
    if (isInterpreter(argv[0]!)) {
      const text = `${argv[0]} runs whatever it is given; name a program`;
      found.push([["commands", i, "argv"], text]);
    }
    const patterns = argv.slice(1).filter((arg) => arg.startsWith("/") && arg.endsWith("/"));
    for (const pattern of more === undefined ? patterns : [...patterns, more]) {
      if (!isPattern(pattern)) found.push([["commands", i], `${pattern} is not a pattern`]);
    }
    return found;
  });
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
