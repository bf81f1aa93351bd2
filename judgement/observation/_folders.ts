import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Service } from "../../integrations/host/mod.ts";
import { oncePer } from "./_once.ts";
import { listProc, readProcIfAny, readProcLink } from "./_proc.ts";
import { type ServiceProcess, startOf } from "./_service_process.ts";

/** Files that a service is set up by. */
const SETTINGS =
  /\.(?:ya?ml|json|toml|ini|conf|cfg|properties|env|xml|service)$|^(?:\.env|Dockerfile|Caddyfile)$/i;
/** Files of tools that say nothing about how a service runs. */
const OF_TOOLS =
  /^(?:package(?:-lock)?|tsconfig|composer|deno)\.json$|^pyproject\.toml$|^pom\.xml$/;
const LOG = /\.(?:log|out|err)$|^(?:stdout|stderr)$/i;
/** Folders of programs and of their data, in which files change without anybody who changes something. */
export const SKIPPED = /^(?:\.git|node_modules|__pycache__|\.cache|\.venv|venv|logs?|tmp|data)$/;
const CERTIFICATE = /\.(?:pem|crt|cer)$/i;
const MAX_SETTINGS = 10;
const MAX_LOGS = 4;
const MAX_BYTES = 64 * 1_024;

/** Files that processes hold open for writing, and the folders in which they run. */
export interface OpenFiles {
  readonly folders: readonly string[];
  readonly written: readonly string[];
  /** Files that take the standard output of the processes. */
  readonly output: readonly string[];
}

/** Lists what processes hold open. @see proc_pid_fd(5), proc_pid_fdinfo(5) */
export const listOpenFiles = oncePer((processes: readonly ServiceProcess[]): OpenFiles => {
  const folders = new Set<string>();
  const written = new Set<string>();
  const output = new Set<string>();
  for (const { pid } of processes) {
    const cwd = readProcLink(`/proc/${pid}/cwd`);
    if (cwd && cwd !== "/") folders.add(cwd);
    for (const fd of listProc(`/proc/${pid}/fd`).slice(0, 200)) {
      const path = readProcLink(`/proc/${pid}/fd/${fd}`);
      if (!isAbsolute(path) || path.startsWith("/dev/") || path.startsWith("/proc/")) continue;
      const info = readProcIfAny(`/proc/${pid}/fdinfo/${fd}`);
      const flags = Number.parseInt(/^flags:\s+(\d+)/m.exec(info)?.[1] ?? "0", 8);
      if ((flags & 3) === 0 || path.endsWith(" (deleted)")) continue;
      written.add(path);
      if (fd === "1" || fd === "2") output.add(path);
    }
  }
  return { folders: [...folders], written: [...written], output: [...output] };
});

/** Lists the logs that processes write, and those in the folder of a service. */
export async function listLogsOf(
  service: Service,
  { written, output, folders }: OpenFiles,
): Promise<string[]> {
  const { cwd } = startOf(service);
  const inFolders = await Promise.all(
    [...new Set([...(cwd ? [cwd] : []), ...folders])]
      .flatMap((folder) => [folder, join(folder, "logs"), join(folder, "log")])
      .map(async (folder) =>
        (await readdir(folder).catch(() => [])).filter((name) => LOG.test(name))
          .map((name) => join(folder, name))
      ),
  );
  const open = written.filter((path) => !output.includes(path) && LOG.test(basename(path)));
  return [...new Set([...open, ...inFolders.flat()])].slice(0, MAX_LOGS);
}

/** Lists the files that a service is set up by: those in its folder, and those that its command names. */
export async function listSettings(service: Service): Promise<string[]> {
  const { command, cwd, env } = startOf(service);
  const named = [...command, ...Object.values(env)].map((text) => text.replace(/^--?[\w-]+=/, ""))
    .filter((text) => isSettings(basename(text)))
    .map((text) => isAbsolute(text) ? text : join(cwd ?? "/", text));
  const programs = command.filter((text) => isAbsolute(text) && /\.\w{1,5}$/.test(text));
  const folders = cwd ? [cwd] : [...new Set(programs.map((path) => dirname(path)))];
  const around = await Promise.all(
    folders.flatMap((folder) => [folder, join(folder, "config"), join(folder, "conf")])
      .map(async (folder) =>
        (await readdir(folder, { withFileTypes: true }).catch(() => []))
          .filter((entry) => entry.isFile() && isSettings(entry.name))
          .map(({ name }) => join(folder, name))
      ),
  );
  return [...new Set([...named, ...around.flat()])].slice(0, MAX_SETTINGS);
}

/** Lists the files with certificates that a service has in its folder, and those that its command names. */
export async function listCertificateFiles(service: Service): Promise<string[]> {
  const { command, cwd, env } = startOf(service);
  const named = [...command, ...Object.values(env)].map((text) => text.replace(/^--?[\w-]+=/, ""))
    .filter((text) => CERTIFICATE.test(text))
    .map((text) => isAbsolute(text) ? text : join(cwd ?? "/", text));
  const around = await Promise.all(
    (cwd ? [cwd, join(cwd, "certs"), join(cwd, "tls"), join(cwd, "ssl")] : []).map(async (folder) =>
      (await readdir(folder).catch(() => [])).filter((name) => CERTIFICATE.test(name))
        .map((name) => join(folder, name))
    ),
  );
  return [...new Set([...named, ...around.flat()])].slice(0, MAX_SETTINGS);
}

/** Returns whether a file of this name sets something up. */
export const isSettings = (name: string): boolean => SETTINGS.test(name) && !OF_TOOLS.test(name);

/** Reads a file of settings; undefined: it can't be read, or is too long for one. */
export async function readSettings(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text === undefined || text.length > MAX_BYTES ? undefined : text;
}
