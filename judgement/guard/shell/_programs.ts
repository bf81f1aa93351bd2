/** Knowledge of programs: `programs/*.yaml`. A program that no file names is not understood. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../../config.ts";

/** An objection that a form makes always, or where the arguments match. */
export interface FormRule {
  readonly pattern: RegExp | undefined;
  readonly kind: string;
  readonly reason: string;
}

/** Options and operands that a program or one of its verbs may have. */
export interface Form {
  /** Kinds of values by the option's name; "": a flag. Undefined: all options are harmless. */
  readonly options: ReadonlyMap<string, string> | undefined;
  /** Kind of the operands. */
  readonly args: string | undefined;
  readonly ask: readonly FormRule[];
  readonly deny: readonly FormRule[];
}

/** A verb with its form. */
interface Verb {
  readonly words: readonly RegExp[];
  /** One flag a word: true where it stands for any name, so that it is an operand as well. */
  readonly isName: readonly boolean[];
  readonly form: Form;
}

/** Way in which a program finds the program that it runs. */
interface Wrapper {
  /** First of its operands that make it a wrapper. */
  readonly verb?: string | undefined;
  /** Number of its own operands before the other program: a duration, a host. */
  readonly operands: number;
  /** The remaining arguments are joined and read by a shell, as ssh does. */
  readonly joins: boolean;
  readonly remote: boolean;
}

/** A known program. */
export interface Program extends Form {
  readonly verbs: readonly Verb[] | undefined;
  readonly wraps: Wrapper | undefined;
  /** Words that it stands for: `docker-compose` for `docker compose`. */
  readonly as: readonly string[] | undefined;
}

const REASON = z.string().min(4);
const RULES = z.union([REASON, z.record(z.string(), REASON)]).optional();
const KIND = z.string().regex(/^[a-z_]\w*$/);
const FORM = { options: z.string().optional(), args: KIND.optional(), ask: RULES, deny: RULES };
const PROGRAM = z.strictObject({
  why: REASON,
  ...FORM,
  verbs: z.record(z.string(), z.union([KIND, z.strictObject(FORM)])).optional(),
  wraps: z.strictObject({
    verb: z.string().optional(),
    operands: z.int().default(0),
    joins: z.boolean().default(false),
    remote: z.boolean().default(false),
  }).optional(),
  as: z.string().optional(),
});
const FILE = z.record(z.string(), z.union([REASON, PROGRAM]));
type FormText = z.output<z.ZodObject<typeof FORM>>;
type ProgramText = z.output<typeof PROGRAM>;

const texts = new Map<string, ProgramText>();
const globs: (readonly [RegExp, ProgramText])[] = [];
const compiled = new Map<ProgramText, Program>();

/** Returns what is known of a program; undefined: nothing. */
export function findProgram(name: string): Program | undefined {
  if (texts.size === 0) readPrograms();
  const text = texts.get(name) ?? globs.find(([pattern]) => pattern.test(name))?.[1];
  if (!text) return undefined;
  const known = compiled.get(text) ?? compileProgram(text);
  compiled.set(text, known);
  return known;
}

function readPrograms(): void {
  const folder = join(ROOT, "judgement", "guard", "programs");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".yaml")).sort()) {
    const known = FILE.parse(parse(readFileSync(join(folder, file), "utf8")));
    for (const [names, entry] of Object.entries(known)) {
      const text = typeof entry === "string" ? { why: entry, args: "text" } : entry;
      for (const name of names.split(", ")) {
        if (name.includes("*")) globs.push([globPattern(name), text]);
        else texts.set(name, text);
      }
    }
  }
}

/** Makes an expression of a glob; `*` stands for any letters within one word. */
export function globPattern(glob: string, flags = ""): RegExp {
  const escaped = glob.replace(/[.+^${}()|[\]\\?]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*")}$`, flags);
}

function compileProgram(text: ProgramText): Program {
  const verbs = text.verbs && Object.entries(text.verbs).flatMap(([names, value]) => {
    const own = compileForm(typeof value === "string" ? { args: value } : value);
    const global = text.options === undefined ? undefined : parseOptions(text.options);
    const options = own.options && new Map([...global ?? [], ...own.options]) || global;
    return names.split(", ").map((name): Verb => {
      const words = name.split(" ").filter(Boolean);
      return {
        words: words.map((word) => globPattern(word, "i")),
        isName: words.map((word) => word === "*"),
        form: { ...own, options },
      };
    });
  });
  verbs?.sort((a, b) => b.words.length - a.words.length);
  const wraps = text.wraps;
  return { ...compileForm(text), verbs, wraps, as: text.as?.split(" ") };
}

function compileForm({ options, args, ask, deny }: FormText): Form {
  return {
    options: options === undefined ? undefined : parseOptions(options),
    args,
    ask: compileRules(ask),
    deny: compileRules(deny),
  };
}

/** Compiles `kind: reason`, or several of them by the pattern of the arguments. */
function compileRules(rules: string | Readonly<Record<string, string>> | undefined): FormRule[] {
  if (rules === undefined) return [];
  const entries = typeof rules === "string" ? [["", rules] as const] : Object.entries(rules);
  return entries.map(([source, text]) => {
    const [, kind, reason] = /^(\w+): (.+)$/s.exec(text) ?? [];
    if (kind === undefined) throw new Error(`Cannot read the rule "${text}": it names no kind`);
    const [, flags = "", rest] = /^(?:\(\?(i)\))?(.*)$/s.exec(source)!;
    return { pattern: source === "" ? undefined : new RegExp(rest!, flags), kind, reason: reason! };
  });
}

/** Parses `-n= --since= -o=write -s=/HUP|USR1/ -v`, or `any`. */
function parseOptions(text: string): ReadonlyMap<string, string> {
  const words = text.match(/\S+?=\/(?:[^/]|\/(?! |$))*\/(?= |$)|\S+/g) ?? [];
  return new Map(words.map((word) => {
    const at = word.indexOf("=");
    return at < 0 ? [word, ""] : [word.slice(0, at), word.slice(at + 1) || "text"];
  }));
}
