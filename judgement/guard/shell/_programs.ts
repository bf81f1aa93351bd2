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
  /** Kinds of values by the option's name; "": a flag. Options that are not listed need a person. */
  readonly options: ReadonlyMap<string, string>;
  /** Kind of the operands. */
  readonly args: string | undefined;
  readonly ask: readonly FormRule[];
  readonly deny: readonly FormRule[];
}

/** A word of a verb: a word as it is written, or a name that the line gives. */
interface VerbWord {
  readonly text: string;
  /** `<name>` stands for any word; `key=<value>` for any value of that key. */
  readonly isName: boolean;
}

/** A verb with its form. */
interface Verb {
  readonly words: readonly VerbWord[];
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
const OPTIONS = z.string().refine((text) => !/(^| )any( |$)/.test(text), {
  error: "Options must be listed one by one: `any` is no list",
});
const FORM = { options: OPTIONS.optional(), args: KIND.optional(), ask: RULES, deny: RULES };
/** Words of verbs are written out; a word in `<…>` stands for a name. */
const VERBS = z.string().regex(/^[^*?]*$/, {
  error: "A verb must be written out: a pattern would let in verbs that nobody has looked at",
});
const PROGRAM = z.strictObject({
  why: REASON,
  ...FORM,
  /** One list for all programs of the entry, or a list for each. */
  options: z.union([OPTIONS, z.record(z.string(), OPTIONS)]).optional(),
  verbs: z.record(VERBS, z.union([KIND, z.strictObject(FORM)])).optional(),
  /** Verbs that only look, by the groups that they belong to. */
  looks: z.record(VERBS, VERBS).optional(),
  /** Verbs that print credentials, likewise. */
  secrets: z.record(VERBS, VERBS).optional(),
  wraps: z.strictObject({
    verb: z.string().optional(),
    operands: z.int().default(0),
    joins: z.boolean().default(false),
    remote: z.boolean().default(false),
  }).optional(),
  as: z.string().optional(),
}).refine(
  ({ options, as, ask, deny, args, verbs }) =>
    options !== undefined || as !== undefined ||
    args === undefined && verbs === undefined &&
      (typeof ask === "string" || typeof deny === "string"),
  { error: "An entry needs its list of options, or an objection that it always makes" },
);
/** Names of programs are written out as well; `<n>` stands for a version. */
const FILE = z.record(VERBS, z.union([REASON, PROGRAM]));
type FormText = z.output<z.ZodObject<typeof FORM>>;
type ProgramText = z.output<typeof PROGRAM>;

/** A program as the files describe it, with its own list of options. */
interface Entry extends Omit<ProgramText, "options"> {
  readonly options: string;
}

const texts = new Map<string, Entry>();
const versioned = new Map<string, Entry>();
const compiled = new Map<Entry, Program>();

/** Returns what is known of a program; undefined: nothing. */
export function findProgram(name: string): Program | undefined {
  if (texts.size === 0) readPrograms();
  const entry = texts.get(name) ?? versioned.get(name.replace(/-?\d[\d.]*$/, ""));
  if (!entry) return undefined;
  const known = compiled.get(entry) ?? compileProgram(entry);
  compiled.set(entry, known);
  return known;
}

function readPrograms(): void {
  const folder = join(ROOT, "judgement", "guard", "programs");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".yaml")).sort()) {
    for (const [name, entry] of parsePrograms(readFileSync(join(folder, file), "utf8"))) {
      if (texts.has(name) || versioned.has(name.replace(/<n>$/, "")) && name.endsWith("<n>")) {
        throw new Error(`Cannot read ${file}: it lists ${name}, which another entry lists`);
      }
      if (name.endsWith("<n>")) versioned.set(name.slice(0, -3), entry);
      else texts.set(name, entry);
    }
  }
}

/**
 * Parses entries of programs.
 *
 * @throws an entry without its list of options, or with a pattern for a verb or a name
 */
export function parsePrograms(yaml: string): ReadonlyMap<string, Entry> {
  const found = new Map<string, Entry>();
  for (const [names, said] of Object.entries(FILE.parse(parse(yaml)))) {
    const text = typeof said === "string" ? { why: said, args: "text", options: "" } : said;
    const shared: Entry = {
      ...text,
      options: typeof text.options === "string" ? text.options : "",
    };
    const own = optionsByName(names, text.options);
    for (const name of names.split(", ")) {
      found.set(name, own === undefined ? shared : { ...shared, options: own.get(name)! });
    }
  }
  return found;
}

/** Returns the options of each program of an entry; undefined: all have the same. */
function optionsByName(
  names: string,
  options: ProgramText["options"],
): ReadonlyMap<string, string> | undefined {
  if (options === undefined || typeof options === "string") return undefined;
  const own = new Map(
    Object.entries(options).flatMap(([some, list]) => some.split(", ").map((one) => [one, list])),
  );
  const missing = names.split(", ").find((name) => !own.has(name));
  if (missing !== undefined) throw new Error(`Cannot read the entry of ${missing}: no options`);
  return own;
}

/** Makes an expression of a glob; `*` stands for any letters within one word. */
export function globPattern(glob: string, flags = ""): RegExp {
  const escaped = glob.replace(/[.+^${}()|[\]\\?]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*")}$`, flags);
}

function compileProgram(text: Entry): Program {
  const global = parseOptions(text.options);
  const written = Object.entries(text.verbs ?? {}).flatMap(([names, value]) => {
    const own = compileForm(typeof value === "string" ? { args: value } : value);
    const options = new Map([...global, ...own.options]);
    return names.split(", ").map((name): Verb => ({
      words: verbWords(name),
      form: { ...own, options },
    }));
  });
  const looking = verbsOf(text.looks, { options: global, args: "text", ask: [], deny: [] });
  const printing = verbsOf(text.secrets, { ...compileForm(PRINTS_SECRETS), options: global });
  const isLeaf = text.verbs === undefined && text.looks === undefined &&
    text.secrets === undefined;
  const verbs = isLeaf ? undefined : [...written, ...printing, ...looking];
  verbs?.sort((a, b) => b.words.length - a.words.length);
  return { ...compileForm(text), verbs, wraps: text.wraps, as: text.as?.split(" ") };
}

const PRINTS_SECRETS: FormText = {
  args: "text",
  ask: "secret: It prints secrets or credentials, or what may hold some",
};

/** Returns the verbs of `group, other: list show`, which have one form. */
function verbsOf(groups: ProgramText["looks"], form: Form): Verb[] {
  return Object.entries(groups ?? {}).flatMap(([names, verbs]) =>
    names.split(", ").flatMap((group) =>
      verbs.split(/\s+/).filter(Boolean).map((verb): Verb => ({
        words: verbWords(`${group} ${verb}`),
        form,
      }))
    )
  );
}

function verbWords(verb: string): VerbWord[] {
  return verb.split(" ").filter(Boolean).map((word) => ({
    text: word.replace(/<\w+>$/, "").toLowerCase(),
    isName: /<\w+>$/.test(word),
  }));
}

/** Tells whether a word of a line is the one of a verb. */
export function isVerbWord({ text, isName }: VerbWord, word: string): boolean {
  const plain = word.toLowerCase();
  return isName ? plain.startsWith(text) : plain === text;
}

function compileForm({ options, args, ask, deny }: FormText): Form {
  return {
    options: parseOptions(options ?? ""),
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

/** Options that tell about a program and do nothing else. */
const TELLS: readonly (readonly [string, string])[] = [["--help", ""], ["--version", ""]];

/**
 * Parses `-n= --since= -o=write -s=/HUP|USR1/ -v`. `-[abc]` stands for `-a -b -c`, and `--color?` may have a value after
 * its `=`.
 */
function parseOptions(text: string): ReadonlyMap<string, string> {
  const words = text.match(/\S+?=\/(?:[^/]|\/(?! |$))*\/(?= |$)|\S+/g) ?? [];
  return new Map([
    ...TELLS,
    ...words.flatMap((word): (readonly [string, string])[] => {
      const letters = /^-\[(.+)\]$/.exec(word)?.[1];
      if (letters !== undefined) return [...letters].map((letter) => [`-${letter}`, ""] as const);
      if (word.endsWith("?")) return [[word.slice(0, -1), "optional"]];
      const at = word.indexOf("=");
      return [at < 0 ? [word, ""] : [word.slice(0, at), word.slice(at + 1) || "text"]];
    }),
  ]);
}
