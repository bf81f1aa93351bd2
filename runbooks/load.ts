import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { FORBIDDEN_PROGRAMS } from "./commands.ts";
import {
  type AllowedCommand,
  CommandsFile,
  kindOfStep,
  type RunbookDocument,
  RunbookFile,
} from "./schema.ts";

/** A runbook, with what proves which one it is. */
export interface Runbook extends RunbookDocument {
  /** Ours, or from the user's own folder. */
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
}

/** A runbook's file is wrong; each message names file and line. */
export class BadRunbook extends Error {
  override readonly name = "BadRunbook";
}

/** The file of the allow-list, in each folder of runbooks. */
const COMMANDS = "commands.yaml";

/**
 * Reads all runbooks. One of the user's replaces ours of the same name; commands of both allow-lists are allowed.
 *
 * @param shipped folder of those that come with the product
 * @param own the user's folder; it need not be there
 * @throws {BadRunbook} names each file and line, what was wrong, and what would be right
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
  };
}

function readFolder(folder: string, origin: Runbook["origin"]) {
  const names = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name)).sort();
  const runbooks: Runbook[] = [];
  const commands: AllowedCommand[] = [];
  const texts: string[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const text = readFileSync(path, "utf8");
    if (name === COMMANDS) {
      commands.push(...read(path, text, CommandsFile, wrongCommands).commands);
      texts.push(text);
    } else {
      const document = read(path, text, RunbookFile, wrongRunbook);
      runbooks.push({ ...document, origin, sha256: sha256(text) });
    }
  }
  const names_ = runbooks.map(({ runbook }) => runbook);
  const twice = names_.find((name, i) => names_.indexOf(name) !== i);
  if (twice) throw new BadRunbook(`Cannot use ${folder}: there are two runbooks named ${twice}`);
  return { runbooks, commands, texts };
}

/** What is wrong, and where. */
type Wrong = [path: PropertyKey[], text: string];

function read<T extends z.ZodType>(
  path: string,
  text: string,
  schema: T,
  inconsistencies: (document: z.output<T>, file: string) => Wrong[],
): z.output<T> {
  const lines = new LineCounter();
  const yaml = parseDocument(text, { lineCounter: lines });
  const lineOf = (at: readonly PropertyKey[]): number => {
    for (let length = at.length; length >= 0; length--) {
      const node = yaml.getIn(at.slice(0, length), true) as { range?: [number] } | undefined;
      if (node?.range) return lines.linePos(node.range[0]).line;
    }
    return 1;
  };
  const fail = (problems: (readonly [number, string])[]): never => {
    const listed = problems.map(([line, problem]) => `  line ${line}: ${problem}`).join("\n");
    throw new BadRunbook(`Cannot use the runbook file ${path}:\n${listed}`);
  };
  if (yaml.errors.length > 0) {
    fail(yaml.errors.map((e) => [lines.linePos(e.pos[0]).line, e.message.split("\n")[0]!]));
  }
  const parsed = schema.safeParse(yaml.toJS() ?? {});
  if (!parsed.success) {
    fail(parsed.error.issues.map((i) => [lineOf(i.path), `${i.path.join(".")}: ${explain(i)}`]));
  }
  const document = parsed.data!;
  const wrong = inconsistencies(document, basename(path));
  if (wrong.length > 0) fail(wrong.map(([at, problem]) => [lineOf(at), problem]));
  return document;
}

function explain(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return `unknown field ${issue.keys.join(", ")}`;
  if (issue.code === "invalid_union") return "fits none of the forms that docs/runbooks.md lists";
  return issue.message;
}

/** What a schema can't say. */
function wrongRunbook(document: RunbookDocument, file: string): Wrong[] {
  const { runbook, steps, parameters, match } = document;
  const wrong: Wrong[] = [];
  if (file.replace(/\.ya?ml$/, "") !== runbook) {
    wrong.push([["runbook"], `the file of ${runbook} must be named ${runbook}.yaml`]);
  }
  if (Object.values(match).every((one) => one === undefined)) {
    wrong.push([["match"], "expected at least one of categories, services, types, findings"]);
  }
  const before: Record<string, string> = {};
  steps.forEach((step, i) => {
    const kind = kindOfStep(step);
    if (!kind) wrong.push([["steps", i], `${step.step} must have exactly one kind of act`]);
    if (before[step.step]) wrong.push([["steps", i], `there are two steps named ${step.step}`]);
    if (step.purge && before[step.purge.step] !== "clean") {
      wrong.push([["steps", i, "purge"], `no clean step ${step.purge.step} comes before it`]);
    }
    if ("put_back" in step.undo && kind !== "clean") {
      wrong.push([["steps", i, "undo"], "only what a clean step has moved can be put back"]);
    }
    if (step.wait && !step.wait.for && !step.wait.at_least) {
      wrong.push([["steps", i, "wait"], "expected what to wait for, or how long at_least"]);
    }
    if (kind) before[step.step] = kind;
    for (const [, name] of JSON.stringify(step).matchAll(/\{([a-z][a-z_]*)\}/g)) {
      if (name === "service" || name! in parameters) continue;
      wrong.push([["steps", i], `there is no parameter {${name}}`]);
    }
  });
  return wrong;
}

function wrongCommands({ commands }: z.output<typeof CommandsFile>): Wrong[] {
  return commands.flatMap(({ argv, more }, i): Wrong[] => {
    const wrong: Wrong[] = [];
    if (FORBIDDEN_PROGRAMS.test(basename(argv[0]!))) {
      wrong.push([["commands", i, "argv"], `${argv[0]} runs whatever it is given; name a program`]);
    }
    for (
      const pattern of [...argv.slice(1).filter((a) => a.startsWith("/") && a.endsWith("/")), more]
    ) {
      if (pattern === undefined) continue;
      try {
        new RegExp(pattern);
      } catch {
        wrong.push([["commands", i], `${pattern} is not a pattern`]);
      }
    }
    return wrong;
  });
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
