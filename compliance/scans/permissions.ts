import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import type { Config } from "../../config.ts";
import type { Scanner, Weakness } from "./_scanner.ts";

/** Names of files that hold secrets; `postgres.json` has the passwords of the local database. */
const SECRET = /\.(key|secret|pem)$|^password$|^postgres\.json$/;
/** Files that say what may be done: others may read them, but not write. */
const RULES = /\.ya?ml$/;
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
/** Of a secret elsewhere: a group of the host may be meant to read it. */
const EVERYBODY = 0o027;
const FOLDERS = ["", "postgres", "runbooks"];

/** A file or folder, and which of its rights are too much. */
interface Guarded {
  readonly path: string;
  readonly too_much: number;
  readonly what: "get at" | "write";
}

/** Files and folders of the platform that others than their owner may read or write. */
export const permissions: Scanner = async ({ config }) => {
  const { dataDir } = config;
  const inside = await Promise.all(FOLDERS.map((folder) => filesIn(join(dataDir, folder))));
  const named = await namedFiles(config);
  const outside = named.filter(({ path }) => !isWithin(dataDir, path));
  const folders = [
    dataDir,
    ...FOLDERS.slice(1).map((one) => join(dataDir, one)),
    ...ownRunbooks(config),
  ];
  const found = await Promise.all([
    ...inside.flat().map((one) => weakFile(one, true)),
    ...outside.map((one) => weakFile(one, false)),
    ...[...new Set(folders)].map(weakFolder),
  ]);
  return found.flat();
};

async function filesIn(folder: string): Promise<Guarded[]> {
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((name): Guarded[] => {
    const path = join(folder, name);
    if (SECRET.test(name)) return [{ path, too_much: OTHERS, what: "get at" }];
    return RULES.test(name) ? [{ path, too_much: OTHERS_WRITE, what: "write" }] : [];
  });
}

/** Files that settings name, wherever they are. */
async function namedFiles(config: Config): Promise<Guarded[]> {
  const { settings } = config;
  const rules = [
    ...[settings.SEALOOP_GOVERNANCE, settings.SEALOOP_POLICY, settings.SEALOOP_SERVICES],
    ...[settings.SEALOOP_DETECTORS, settings.SEALOOP_ADVISORIES],
  ];
  const runbooks = await Promise.all(ownRunbooks(config).map(filesIn));
  const given = (path: string | undefined, rest: Omit<Guarded, "path">) =>
    path === undefined ? [] : [{ path: resolve(path), ...rest }];
  return [
    ...given(settings.SEALOOP_TLS_KEY, { too_much: EVERYBODY, what: "get at" }),
    ...rules.flatMap((path) => given(path, { too_much: OTHERS_WRITE, what: "write" })),
    ...runbooks.flat().filter(({ what }) => what === "write"),
  ];
}

const ownRunbooks = ({ settings: { SEALOOP_RUNBOOKS: folder } }: Config) =>
  folder === undefined ? [] : [resolve(folder)];

/** @param mendable whether a runbook may change its rights, as it is in the data folder */
async function weakFile({ path, too_much, what }: Guarded, mendable: boolean): Promise<Weakness[]> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile() || (found.mode & too_much) === 0) return [];
  const name = mendable ? path.split("/").at(-1) : path;
  return [{
    code: mendable ? "file_permissions" : "exposed_file",
    severity: what === "get at" ? "high" : "medium",
    summary: `Others than its owner may ${what} the file ${name}`,
    detail: { path, mode: modeOf(found) },
    remedy: what === "get at" && mendable
      ? `chmod 600 ${path}, and replace the secret in it if others can have read it`
      : what === "get at"
      ? `chmod o-rwx,g-w ${path}, and replace the secret in it if others can have read it`
      : `chmod go-w ${path}, and look whether what it says is still meant`,
    which: path,
    ...(mendable ? { path } : {}),
  }];
}

/** In a folder that others may write, any file can be put in place of another, whatever the rights of that one. */
async function weakFolder(path: string): Promise<Weakness[]> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory() || (found.mode & OTHERS_WRITE) === 0) return [];
  return [{
    code: "folder_permissions",
    severity: "high",
    summary: `Others than its owner may write the folder ${path}`,
    detail: { path, mode: modeOf(found) },
    remedy: `chmod go-w ${path}, and look whether its files are still those that are meant`,
    which: path,
  }];
}

const modeOf = ({ mode }: { mode: number }) => (mode & 0o777).toString(8);

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith("..") && !isAbsolute(way);
}
