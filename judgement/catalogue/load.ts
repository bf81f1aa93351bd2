import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Config, ROOT } from "../../config.ts";
import { BadFile, readYaml, settingsFilePath } from "../../integrations/files/mod.ts";
import { isInterpreter } from "../runbooks/mod.ts";
import { matchesPattern } from "./fill.ts";
import { type ScriptDocument, ScriptFile } from "./schema.ts";

/** A script of the catalogue. */
export interface Script extends ScriptDocument {
  /** Shipped with the product, or from the user's own folder. */
  readonly origin: "shipped" | "user";
  /** Over the bytes of its file. */
  readonly sha256: string;
}

/** A script's file is wrong; the message names file and line. */
export class BadScript extends BadFile {
  override readonly name = "BadScript";
}

/** A mistake that the schema can't find, with its place. */
type Inconsistency = readonly [path: PropertyKey[], text: string];

/** Folder of the scripts that come with the product. */
const SHIPPED_SCRIPTS: string = join(ROOT, "judgement", "catalogue", "shipped");

/** Returns the folder of the user's own scripts, which need not exist. */
export function scriptsFolder(
  config: Pick<Config, "settings" | "dataDir" | "readsCopies">,
): string {
  return settingsFilePath(config, "scripts");
}

/**
 * Loads the shipped scripts and the user's own. One of the user's replaces the shipped one of the same name.
 *
 * @param folder of the user's own
 * @throws {BadScript} names file and line
 */
export function loadScripts(folder?: string): Script[] {
  const own = folder !== undefined && existsSync(folder) ? readFolder(folder, "user") : [];
  const replaced = new Set(own.map(({ script }) => script));
  const shipped = readFolder(SHIPPED_SCRIPTS, "shipped");
  const all = [...shipped.filter(({ script }) => !replaced.has(script)), ...own];
  checkReferences(all);
  return all.sort((a, b) => a.script < b.script ? -1 : 1);
}

function readFolder(folder: string, origin: Script["origin"]): Script[] {
  return readdirSync(folder).filter((name) => /\.ya?ml$/.test(name)).sort().map((name) => {
    const path = join(folder, name);
    const text = readFileSync(path, "utf8");
    const sha256 = createHash("sha256").update(text).digest("hex");
    return { ...parseScript(path, text), origin, sha256 };
  });
}

function parseScript(path: string, text: string): ScriptDocument {
  const read = readYaml(text, ScriptFile);
  const mistakes = "mistakes" in read
    ? read.mistakes
    : checkScript(read.value, basename(path)).map(([at, text]) => ({
      ...read.placeOf(at),
      text,
    }));
  if ("value" in read && mistakes.length === 0) return read.value;
  throw new BadScript(mistakes, path);
}

function checkScript(document: ScriptDocument, file: string): Inconsistency[] {
  const { script, argv, parameters, read_only, undo } = document;
  const found: Inconsistency[] = [];
  if (file.replace(/\.ya?ml$/, "") !== script) {
    found.push([["script"], `the file of ${script} must be named ${script}.yaml`]);
  }
  if (isInterpreter(argv[0]!)) {
    found.push([["argv"], `${argv[0]} runs whatever it is given; name a program`]);
  }
  if (/[{}]/.test(argv[0]!)) found.push([["argv"], "the program can't be a parameter"]);
  for (const [, name] of argv.join("\n").matchAll(/\{([a-z0-9_]+)\}/g)) {
    if (!(name! in parameters)) found.push([["argv"], `there is no parameter {${name}}`]);
  }
  for (const [name, { pattern, lines, default: value }] of Object.entries(parameters)) {
    if (!isPattern(pattern)) {
      found.push([["parameters", name, "pattern"], `${pattern} is not a pattern`]);
    } else if (value !== undefined && !matchesPattern({ pattern, lines }, value)) {
      found.push([["parameters", name, "default"], "it does not match the pattern"]);
    }
  }
  if (!read_only && !undo) {
    found.push([["script"], "expected undo, as it changes the device: a script, or none and why"]);
  }
  return found;
}

function isPattern(text: string): boolean {
  try {
    return Boolean(new RegExp(text, "u"));
  } catch {
    return false;
  }
}

/** @throws {BadScript} a script names one that is not there, or that takes other parameters */
function checkReferences(scripts: readonly Script[]): void {
  const byName = new Map(scripts.map((one) => [one.script, one]));
  for (const { script, verify, undo, parameters } of scripts) {
    const names = [verify, undo && "script" in undo ? undo.script : undefined];
    for (const name of names) {
      if (name === undefined) continue;
      const other = byName.get(name);
      const isFitting = other !== undefined &&
        Object.keys(other.parameters).every((one) => one in parameters);
      if (!isFitting) {
        throw wrongReference(script, `there is no script ${name} whose parameters ${script} has`);
      }
      if (name === verify && !other.read_only) {
        throw wrongReference(script, `${name}, which verifies ${script}, changes the device`);
      }
    }
  }
}

function wrongReference(script: string, text: string): BadScript {
  return new BadScript([{ line: 1, text }], `${script}.yaml`);
}
