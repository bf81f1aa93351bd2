/**
 * The configuration: the settings of the environment and `temporal.yaml`, checked, defaulted and frozen.
 *
 * ```ts
 * const { settings, temporal } = loadConfig(process.env);
 * ```
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { z } from "zod";
import { ROUTINES } from "./contract/domain/mod.ts";
import { similarNames } from "./contract/mod.ts";
import { placeOfHost } from "./contract/domain/mod.ts";
import { SETTINGS, type Settings } from "./contract/settings/mod.ts";

export { SETTINGS, type Settings };

/** The project's folder: the nearest one with a package.json above this code, which may be bundled in `dist/`. */
export const ROOT: string = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Version of the product, as its package has it. */
export const VERSION: string =
  (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string }).version;

function findRoot(folder: string): string {
  return existsSync(join(folder, "package.json")) ? folder : findRoot(dirname(folder));
}

/**
 * Returns the path of a program's bundle, which `npm run build` makes.
 *
 * @param source path of the program in the project: `processes/gateway.ts`
 */
export function programPath(source: string): string {
  return join(ROOT, "dist", source.replace(/\.ts$/, ".js"));
}

const duration = z.string().regex(/^\d+[smhd]$/, "Expected a duration like 60s, 5m, 1h or 1d");
const hashes = z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/, "Expected a SHA-256"));
const TEMPORAL = z.strictObject({
  namespace: z.string().min(1),
  retention_days: z.number().int().min(1).max(3650),
  search_attributes: z.record(
    z.string(),
    z.enum(["Keyword", "Text", "Int", "Double", "Bool", "Datetime", "KeywordList"]),
  ),
  task_queues: z.record(
    z.string(),
    z.strictObject({
      runs: z.string(),
      of_each_place: z.boolean().optional(),
      workflow_tasks: z.number().int().min(1).optional(),
      activities: z.number().int().min(1),
      pollers: z.number().int().min(2),
    }),
  ),
  routines: z.partialRecord(
    z.enum(ROUTINES),
    z.strictObject({ every: duration, about: z.string() }),
  ),
  schedules: z.record(
    z.string(),
    z.strictObject({
      workflow: z.string(),
      task_queue: z.string(),
      every: duration,
      about: z.string(),
    }),
  ),
  embedded: z.strictObject({
    version: z.string(),
    wheels: hashes,
    older: z.strictObject({ version: z.string(), archives: hashes }),
    sqlite: z.record(z.string(), z.string()),
    dynamic_config: z.record(
      z.string(),
      z.union([z.number(), z.string(), z.boolean(), z.array(z.string())]),
    ),
  }),
});

/** Settings of the use of Temporal: `temporal.yaml`, checked. */
export type TemporalSettings = Readonly<z.output<typeof TEMPORAL>>;

/** The whole configuration, frozen. */
export interface Config {
  readonly settings: Settings;
  readonly temporal: TemporalSettings;
  /** Absolute path of the data folder. */
  readonly dataDir: string;
  /** Name of the machine on which this process acts. */
  readonly place: string;
  /**
   * True: settings files are read as they are in force, from the copies that this process keeps of them. Absent: those of
   * this machine, as a command does that checks them.
   */
  readonly readsCopies?: true;
}

/** A setting is wrong; the message names each one, and what would be right. */
export class BadSetting extends Error {
  override readonly name = "BadSetting";
}

/**
 * Reads and checks the configuration. Changes nothing.
 *
 * @param env usually `process.env`; every `SEALOOP_…` in it must be a known setting, or one with `_FILE` at its end, whose
 *     file has the value
 * @throws {BadSetting} an unknown name, a value that does not fit, or a file that can't be read
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const ours = Object.entries(env).filter((entry): entry is [string, string] =>
    entry[1] !== undefined && entry[1] !== "" &&
    (entry[0].startsWith("SEALOOP_") || Object.hasOwn(SETTINGS.shape, valueName(entry[0])))
  );
  const settings = check(SETTINGS, readSettingFiles(ours), "the environment");
  if ((settings.SEALOOP_TLS_CERT === undefined) !== (settings.SEALOOP_TLS_KEY === undefined)) {
    throw new BadSetting("SEALOOP_TLS_CERT and SEALOOP_TLS_KEY go together: set both, or neither");
  }
  if (settings.SEALOOP_OIDC_ISSUER !== undefined && !settings.SEALOOP_OIDC_CLIENT_ID) {
    throw new BadSetting(
      "SEALOOP_OIDC_ISSUER needs SEALOOP_OIDC_CLIENT_ID, the id of the client that sealoop is at it",
    );
  }
  if (
    settings.SEALOOP_BLOBS_URL !== undefined &&
    (!settings.SEALOOP_BLOBS_KEY_ID || !settings.SEALOOP_BLOBS_SECRET)
  ) {
    throw new BadSetting(
      "SEALOOP_BLOBS_URL needs SEALOOP_BLOBS_KEY_ID and SEALOOP_BLOBS_SECRET, the key of the bucket",
    );
  }
  if (settings.SEALOOP_JOURNAL !== undefined && settings.SEALOOP_BLOBS_URL === undefined) {
    throw new BadSetting("SEALOOP_JOURNAL needs SEALOOP_BLOBS_URL, the bucket that it is in");
  }
  if (settings.SEALOOP_ARTICLES_SITE === "git") {
    if (!settings.SEALOOP_ARTICLES_GIT || !settings.SEALOOP_ARTICLES_URL) {
      throw new BadSetting(
        "SEALOOP_ARTICLES_SITE=git needs SEALOOP_ARTICLES_GIT, the repository, and SEALOOP_ARTICLES_URL, where readers get it",
      );
    }
  }
  const file = join(ROOT, "temporal.yaml");
  const temporal = check(TEMPORAL, parse(readFileSync(file, "utf8")), "temporal.yaml");
  const place = settings.SEALOOP_PLACE ?? placeOfHost(hostname());
  return deepFreeze({ settings, temporal, dataDir: resolve(ROOT, settings.SEALOOP_DATA), place });
}

/** Returns the name of the setting whose value the file of a `…_FILE` has; the name itself if it is no such one. */
function valueName(name: string): string {
  const value = name.replace(/_FILE$/, "");
  return Object.hasOwn(SETTINGS.shape, name) || !Object.hasOwn(SETTINGS.shape, value)
    ? name
    : value;
}

/** Replaces each `…_FILE` by the setting with the text of the file, without the end of its last line. */
function readSettingFiles(env: readonly (readonly [string, string])[]): Record<string, string> {
  const names = new Set(env.map(([name]) => name));
  return Object.fromEntries(env.map(([name, value]) => {
    const setting = valueName(name);
    if (setting === name) return [name, value];
    if (names.has(setting)) {
      throw new BadSetting(`${setting} and ${name} are both set: set one of them`);
    }
    try {
      return [setting, readFileSync(value, "utf8").replace(/\r?\n$/, "")];
    } catch (error) {
      throw new BadSetting(
        `${name}: cannot read ${value} (${(error as NodeJS.ErrnoException).code})`,
      );
    }
  }));
}

function check<T extends z.ZodType>(schema: T, value: unknown, where: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const lines = result.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => `${key} is not a setting${suggestion(key)}`)
      : [`${issue.path.join(".")}: ${wrong(issue, value)}`]
  );
  throw new BadSetting(`Cannot use the settings of ${where}:\n  ${lines.join("\n  ")}`);
}

/** Says what is wrong with a value, and what would be right. Only numbers are repeated: others may be secrets. */
function wrong(issue: z.core.$ZodIssue, all: unknown): string {
  const value = issue.path.reduce((so, name) => Object(so)[name], all);
  if (issue.code === "invalid_type" && ["number", "int"].includes(issue.expected)) {
    return `${JSON.stringify(value)} is no whole number`;
  }
  if (!("origin" in issue) || issue.origin !== "number") return issue.message;
  if (issue.code === "too_small") return `${value} is too little: at least ${issue.minimum}`;
  if (issue.code === "too_big") return `${value} is too much: at most ${issue.maximum}`;
  return issue.message;
}

function suggestion(name: string): string {
  const plain = (setting: string) => setting.replace(/^SEALOOP_/, "");
  const known = new Map(Object.keys(SETTINGS.shape).map((known) => [plain(known), known]));
  const near = known.get(similarNames(plain(name), [...known.keys()])[0] ?? "");
  return near ? `; did you mean ${near}?` : "; docs/operating.md lists those there are";
}

function deepFreeze<T>(value: T): T {
  if (value && typeof value === "object") {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
