import { readdir, stat } from "node:fs/promises";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import type { Config } from "../../../config.ts";
import type { Scanner, Weakness } from "./_scanner.ts";

/** Names of files with secrets; `postgres.json` has the passwords of the local database. */
const SECRET = /\.(key|secret|pem)$|^password$|^postgres\.json$/;
/** Names of files with rules: others may read them, but not write. */
const RULES = /\.ya?ml$/;
const ANY_BY_OTHERS = 0o077;
const WRITE_BY_OTHERS = 0o022;
/** Like {@linkcode ANY_BY_OTHERS} but for secrets outside of the data folder, which a group may be meant to read. */
const ANY_BY_EVERYBODY = 0o027;
const FOLDERS = ["", "postgres", "runbooks"];

/** A file, and the permissions that it must not have. */
interface GuardedFile {
  readonly path: string;
  readonly forbidden: number;
  readonly access: "read" | "write";
}

/** Finds files and folders of the platform that others than their owner may read or write. */
export const permissions: Scanner = async ({ config }) => {
  const { dataDir } = config;
  const inside = (await Promise.all(FOLDERS.map((name) => listGuarded(join(dataDir, name)))))
    .flat();
  const outside = (await listConfiguredFiles(config)).filter(({ path }) =>
    !isWithin(dataDir, path)
  );
  const folders = new Set([
    ...FOLDERS.map((name) => join(dataDir, name)),
    ...runbookFolders(config),
  ]);
  const found = await Promise.all([
    ...inside.map((file) => checkFile(file, true)),
    ...outside.map((file) => checkFile(file, false)),
    ...[...folders].map(checkFolder),
  ]);
  return found.flat();
};

async function listGuarded(folder: string): Promise<GuardedFile[]> {
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((name): GuardedFile[] => {
    const path = join(folder, name);
    if (SECRET.test(name)) return [{ path, forbidden: ANY_BY_OTHERS, access: "read" }];
    return RULES.test(name) ? [{ path, forbidden: WRITE_BY_OTHERS, access: "write" }] : [];
  });
}

/** Lists the files that settings name, wherever they are. */
async function listConfiguredFiles(config: Config): Promise<GuardedFile[]> {
  const { settings } = config;
  const rules = [
    settings.SEALOOP_GOVERNANCE,
    settings.SEALOOP_POLICY,
    settings.SEALOOP_SERVICES,
    settings.SEALOOP_DETECTORS,
    settings.SEALOOP_ADVISORIES,
  ].filter((path) => path !== undefined);
  const key = settings.SEALOOP_TLS_KEY;
  const runbooks = (await Promise.all(runbookFolders(config).map(listGuarded))).flat();
  return [
    ...(key === undefined
      ? []
      : [{ path: resolve(key), forbidden: ANY_BY_EVERYBODY, access: "read" as const }]),
    ...rules.map((path): GuardedFile => {
      return { path: resolve(path), forbidden: WRITE_BY_OTHERS, access: "write" };
    }),
    ...runbooks.filter(({ access }) => access === "write"),
  ];
}

function runbookFolders({ settings: { SEALOOP_RUNBOOKS: folder } }: Config): string[] {
  return folder === undefined ? [] : [resolve(folder)];
}

/** @param repairable whether it is in the data folder, so that a runbook may change its permissions */
async function checkFile(
  { path, forbidden, access }: GuardedFile,
  repairable: boolean,
): Promise<Weakness[]> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats?.isFile() || (stats.mode & forbidden) === 0) return [];
  return [{
    code: repairable ? "file_permissions" : "exposed_file",
    severity: access === "read" ? "high" : "medium",
    summary: `Others than its owner may ${access} the file ${repairable ? basename(path) : path}`,
    detail: { path, mode: formatMode(stats) },
    remedy: fileRemedy(path, access, repairable),
    which: path,
    ...(repairable ? { path } : {}),
  }];
}

function fileRemedy(path: string, access: "read" | "write", repairable: boolean): string {
  if (access === "write") return `chmod go-w ${path}, and check its content`;
  const command = repairable ? `chmod 600 ${path}` : `chmod o-rwx,g-w ${path}`;
  return `${command}, and replace the secret in it if others can have read it`;
}

/** In a folder that others may write, any file can be replaced, whatever its own permissions. */
async function checkFolder(path: string): Promise<Weakness[]> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats?.isDirectory() || (stats.mode & WRITE_BY_OTHERS) === 0) return [];
  return [{
    code: "folder_permissions",
    severity: "high",
    summary: `Others than its owner may write the folder ${path}`,
    detail: { path, mode: formatMode(stats) },
    remedy: `chmod go-w ${path}, and check that its files are the right ones`,
    which: path,
  }];
}

function formatMode({ mode }: { readonly mode: number }): string {
  return (mode & 0o777).toString(8);
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith("..") && !isAbsolute(way);
}
