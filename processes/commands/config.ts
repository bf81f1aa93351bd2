/** `npm run config -- …`: shows the versions of the settings files in force, and puts new ones. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { type Config, loadConfig } from "../../config.ts";
import {
  describeSettingsFile,
  SETTINGS_FILES,
  type SettingsFileName,
} from "../../contract/domain/mod.ts";
import { similarNames } from "../../contract/mod.ts";
import { copyPath, ownFilePath } from "../../integrations/files/mod.ts";
import {
  configFileOf,
  describeDrift,
  describeMistake,
  filesOf,
  putConfig,
  readContent,
  writeContent,
} from "../../integrations/settings_files/mod.ts";
import type { Store } from "../../store/mod.ts";
import {
  type ConfigFile,
  type ConfigVersion,
  findConfigInForce,
  findConfigVersion,
  listConfigDrift,
  listConfigInForce,
  listConfigVersions,
} from "../../store/platform/mod.ts";
import { currentUser } from "../_operator.ts";
import { checkSettingsFile } from "../_settings_files.ts";
import { UsageError } from "./_arguments.ts";
import { formatTable, runCommand } from "./_command.ts";

const USAGE = `Usage: npm run config -- list [<file>] [--place <name>]
       npm run config -- get <file> [--version <number>] [--place <name>]
       npm run config -- put <file> [<path>] [--place <name>]
       npm run config -- diff <file> [<path>] [--place <name>]

Settings files in force are versions in the database, the same for all workers. <file> is one of ${
  Object.keys(SETTINGS_FILES).join(", ")
}, or a path that ends in its name, such as ./sealoop.governance.yaml.
list: the version of each file that is in force, and workers whose files differ; of one file, its last versions.
get: prints a version; without --version the one in force.
put: checks a file, by default the one of this machine, and puts it in force. That is sealed. From then on no worker's file
is put, unless SEALOOP_CONFIG_PLACE names its place.
diff: shows how a file, by default the one of this machine, differs from what is in force.
--place: whose services file; by default this machine's. The other files are the same for all places.`;

/** Versions of a file that are listed. */
const MAX_LISTED = 20;

await runCommand(USAGE, {
  version: { type: "string" },
  place: { type: "string" },
}, async (openStore, { words: [verb, ...words], options }) => {
  const config = loadConfig(process.env);
  const { version } = options;
  if (verb === "list" && words.length === 0) return await list(openStore());
  const named = nameFile(words, config, options.place as string | undefined);
  if (verb === "list") return await listOne(openStore(), named.file);
  if (verb === "get") return await get(openStore(), named.file, version as string | undefined);
  if (verb === "put") return await put(openStore(), config, named);
  if (verb === "diff") return await diff(openStore(), named);
  throw new UsageError("Give one of list, get, put, diff");
});

/** A file that a command is about. */
interface NamedFile {
  readonly name: SettingsFileName;
  readonly file: ConfigFile;
  /** Of the file on this machine that is put or held against what is in force. */
  readonly path: string;
}

function nameFile(
  [word = "", path, ...more]: readonly string[],
  config: Config,
  place = config.place,
): NamedFile {
  const names = Object.keys(SETTINGS_FILES) as SettingsFileName[];
  const isPath = (name: SettingsFileName) => basename(word) === SETTINGS_FILES[name].file;
  const name = names.find((one) => one === word) ?? names.find(isPath);
  if (!name || more.length > 0) {
    const [near] = similarNames(word, names);
    const advice = near ? `did you mean ${near}?` : `there are ${names.join(", ")}`;
    throw new UsageError(
      word === "" ? `Give a file; ${advice}` : `There is no file ${word}; ${advice}`,
    );
  }
  const file = configFileOf(name, place);
  if (file.place === "" && place !== config.place) {
    throw new UsageError(`The ${SETTINGS_FILES[name].title} is the same for all places`);
  }
  const given = path ?? (name === word ? undefined : word);
  return { name, file, path: given ? resolve(given) : ownFilePath(config, name) };
}

async function list(store: Store): Promise<void> {
  const db = store.asPlatform();
  const inForce = await listConfigInForce(db);
  if (inForce.length === 0) {
    return console.log("Nothing was put in force; npm run config -- put puts a file");
  }
  const rows = await Promise.all(inForce.map(async ({ file, place }) => {
    const version = (await listConfigVersions(db, { file, place }, 1))[0]!;
    return [file, place || "all", String(version.version), ...describeVersion(version)];
  }));
  console.log(formatTable(["file", "place", "version", "since", "from", "sha256"], rows));
  const drift = await listConfigDrift(db);
  if (drift.length > 0) console.log("\nWorkers whose files differ:");
  for (const { name, place, path, version } of drift) {
    console.log(`  ${place}: ${path}\n    ${describeDrift(name, version)}`);
  }
}

async function listOne(store: Store, file: ConfigFile): Promise<void> {
  const versions = await listConfigVersions(store.asPlatform(), file, MAX_LISTED);
  if (versions.length === 0) throw nothingInForce(file);
  console.log(formatTable(
    ["version", "since", "from", "sha256", "receipt"],
    versions.map((one) => [String(one.version), ...describeVersion(one), one.receiptId]),
  ));
}

function describeVersion(
  { putAt, fromPlace, fromPath, putBy, sha256 }: Omit<ConfigVersion, "content">,
): string[] {
  const from = fromPlace === null ? `${putBy}, by a command` : `${fromPlace}:${fromPath}`;
  return [`${putAt.toISOString().slice(0, 19).replace("T", " ")}Z`, from, sha256.slice(0, 12)];
}

async function get(store: Store, file: ConfigFile, number: string | undefined): Promise<void> {
  const db = store.asPlatform();
  if (number !== undefined && !/^[1-9]\d{0,8}$/.test(number)) {
    throw new UsageError("--version is a number from 1");
  }
  const version = number === undefined
    ? await findConfigInForce(db, file)
    : await findConfigVersion(db, file, Number(number));
  if (!version) {
    if (number === undefined) throw nothingInForce(file);
    throw new Error(
      `There is no version ${number} of ${file.file}; npm run config -- list ${file.file} has all`,
    );
  }
  if (!describeSettingsFile(file.file).isFolder) return void process.stdout.write(version.content);
  for (const [name, text] of Object.entries(filesOf(version.content))) {
    console.log(`# ---- ${name}\n${text.trimEnd()}`);
  }
}

async function put(store: Store, config: Config, { name, file, path }: NamedFile): Promise<void> {
  const content = existsSync(path) ? readContent(name, path) : undefined;
  if (!content) throw new Error(`Cannot put ${path}: it does not exist`);
  const { setting } = SETTINGS_FILES[name];
  const there = loadConfig({ ...process.env, [setting]: path, SEALOOP_PLACE: config.place });
  const { mistakes } = checkSettingsFile(there, name);
  if (mistakes.length > 0) {
    throw new Error(`Nothing was put in force:\n  ${mistakes.map(describeMistake).join("\n  ")}`);
  }
  const result = await putConfig(store, file, content, currentUser());
  const whose = file.place === "" ? "" : ` of ${file.place}`;
  if (!result) {
    return console.log(`It is in force already: the ${SETTINGS_FILES[name].title}${whose}`);
  }
  const { version, before } = result;
  console.log(
    `Version ${version} of the ${SETTINGS_FILES[name].title}${whose} is in force${
      before === null ? "" : `, in place of version ${before}`
    }; workers follow within seconds`,
  );
}

async function diff(store: Store, { name, file, path }: NamedFile): Promise<void> {
  const inForce = await findConfigInForce(store.asPlatform(), file);
  if (!inForce) throw nothingInForce(file);
  if (!existsSync(path)) throw new Error(`There is no ${path}, and so nothing that differs`);
  if (readContent(name, path)?.sha256 === inForce.sha256) {
    return console.log(`${path} is what is in force: version ${inForce.version}`);
  }
  const dataDir = mkdtempSync(join(tmpdir(), "sealoop-config-"));
  try {
    const copy = copyPath({ dataDir }, name);
    writeContent(name, copy, inForce.content);
    const { stdout, error } = spawnSync("diff", ["-ruN", copy, path], { encoding: "utf8" });
    if (error) throw new Error(`Cannot run diff: ${error.message}`);
    process.stdout.write(stdout);
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

function nothingInForce({ file, place }: ConfigFile): Error {
  const whose = place === "" ? "" : ` of ${place}`;
  return new Error(
    `Nothing of the ${
      SETTINGS_FILES[file].title
    }${whose} was ever put in force; npm run config -- put ${file} puts it`,
  );
}
