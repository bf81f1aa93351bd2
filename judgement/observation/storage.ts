import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Observation, PLATFORM_TENANT, say } from "../../contract/domain/mod.ts";
import { listServiceLogs, measureDisk } from "../detection/mod.ts";
import { listOpenFiles } from "./_folders.ts";
import { NotHad, type Observer, type ObserverContext, type Subject } from "./observer.ts";
import { findProcesses, startOf } from "./_service_process.ts";

/** From this share of a file system on, what fills it is looked for. */
const FULL_PERCENT = 90;
const MAX_ENTRIES = 20_000;
const MAX_LISTED = 10;
const MAX_FOLDERS = 12;
/** Kinds of file systems that hold files which programs write. */
const WRITABLE = /^(?:ext[234]|xfs|btrfs|zfs|tmpfs|overlay|f2fs|nfs4?|cifs|vfat|fuse\..+)$/;
const MIB = 1_048_576;

/** Measures the file systems of the folders of a service. */
export const storage: Observer = {
  name: "storage",
  about:
    "Measures the file systems of the service's folders and of the files that it writes: space, inodes, whether they can be written, and what fills them; and the fullest of this host",
  isNear: true,
  applies: ({ isLocal }) => isLocal,
  async observe(subject, context): Promise<Observation[]> {
    const mounts = await listMounts();
    const folders = await foldersOf(subject, context, mounts);
    const apart = await oneOfEach(folders);
    const looks = await Promise.allSettled([
      ...apart.map((path) => look(path, mounts, context.deadline)),
      ...(context.store.tenant === PLATFORM_TENANT ? [lookAtHost(mounts)] : []), // it is the operator's
    ]);
    return looks.flatMap((look) => look.status === "fulfilled" ? [look.value] : []); // else there is none
  },
};

/** A file system and where it is in the tree of folders. */
interface Mount {
  readonly at: string;
  readonly kind: string;
  readonly isReadOnly: boolean;
}

/**
 * Returns the folder that a service runs in, those that its command and its variables name, those of the files that it
 * writes and of its logs, file systems below them, and that of a finding about a disk.
 */
async function foldersOf(
  subject: Subject,
  context: ObserverContext,
  mounts: readonly Mount[],
): Promise<string[]> {
  const { service, record } = subject;
  const { kind, path } = record?.target ?? {};
  const { command, cwd, env } = service ? startOf(service) : { command: [], env: {} };
  const open = listOpenFiles(await findProcesses(subject, context));
  const named = [...Object.values(env), ...command.slice(1)]
    .map((text) => text.replace(/^--?[\w-]+=/, "")).filter((text) => /^\/[^\s:;]+$/.test(text));
  const own = [
    ...(kind === "disk" && typeof path === "string" ? [path] : []),
    ...(cwd ? [cwd] : []),
    ...open.folders,
    ...named,
    ...open.written.map((file) => dirname(file)),
    ...(service ? listServiceLogs(context.config, service.name) : []),
  ];
  const below = mounts.filter(({ at, kind }) =>
    WRITABLE.test(kind) && own.some((folder) => at.startsWith(`${folder}/`))
  ).map(({ at }) => at);
  return [...new Set([...below, ...own])].slice(0, MAX_FOLDERS);
}

/** Returns the first folder of each file system; those that are not there are left out. */
async function oneOfEach(folders: readonly string[]): Promise<string[]> {
  const byDevice = new Map<number, string>();
  for (const folder of folders) {
    const { dev } = await stat(folder).catch(() => ({ dev: undefined }));
    if (dev !== undefined && !byDevice.has(dev)) byDevice.set(dev, folder);
  }
  return [...byDevice.values()];
}

async function look(
  path: string,
  mounts: readonly Mount[],
  deadline: AbortSignal,
): Promise<Observation> {
  const folder = (await stat(path)).isDirectory() ? path : join(path, "..");
  const { percent, inodesPercent = 0, freeBytes } = await measureDisk(folder);
  const readOnly =
    mounts.findLast(({ at }) => `${folder}/`.startsWith(at === "/" ? "/" : `${at}/`))?.isReadOnly ??
      false;
  const isFull = percent >= FULL_PERCENT || inodesPercent >= FULL_PERCENT;
  return {
    code: "measured",
    says: say`The file system of ${folder} is ${percent.toFixed(1)} % full, ${
      Math.round(freeBytes / MIB)
    } MiB are free, ${inodesPercent.toFixed(1)} % of its inodes are used${
      readOnly ? say`, and it can't be written` : ""
    }.`,
    ...(isFull ? { text: await listLargest(folder, deadline) } : {}),
    figures: {
      path: folder,
      percent: Math.round(percent * 10) / 10,
      fullest_percent: Math.round(10 * Math.max(percent, inodesPercent)) / 10,
      inodes_percent: Math.round(inodesPercent * 10) / 10,
      free_mib: Math.round(freeBytes / MIB),
      read_only: readOnly,
    },
  };
}

/** Measures the fullest file system of this host. Where none is full, no program lacks space. */
async function lookAtHost(mounts: readonly Mount[]): Promise<Observation> {
  const written = mounts.filter(({ kind, isReadOnly }) => !isReadOnly && WRITABLE.test(kind));
  const measured = await Promise.all(written.map(async ({ at }) => {
    const usage = await measureDisk(at).catch(() => undefined);
    const { percent, inodesPercent = 0 } = usage ?? { percent: 0 };
    return { at, percent: Math.max(percent, inodesPercent) };
  }));
  const [fullest] = measured.sort((a, b) => b.percent - a.percent);
  if (!fullest) throw new NotHad("no_mounts");
  return {
    code: "host",
    says: say`The fullest of ${measured.length} file systems of this host is ${fullest.at}, ${
      fullest.percent.toFixed(1)
    } % of whose space or inodes are used.`,
    figures: { host_fullest_percent: Math.round(10 * fullest.percent) / 10 },
  };
}

/** Lists the mounted file systems, those nearer to the root first. @see proc_pid_mountinfo(5) */
async function listMounts(): Promise<Mount[]> {
  const table = await readFile("/proc/self/mountinfo", "utf8").catch(() => "");
  return table.split("\n").map((line) => line.split(" "))
    .filter((fields) => fields.length > 8)
    .map((fields): Mount => ({
      at: fields[4]!.replaceAll("\\040", " "),
      kind: fields[fields.indexOf("-", 6) + 1] ?? "",
      isReadOnly: fields[5]!.split(",").includes("ro"),
    }))
    .sort((a, b) => a.at.length - b.at.length);
}

/** Lists the largest files of a folder, as far as they are found in time. */
async function listLargest(path: string, deadline: AbortSignal): Promise<string> {
  const files: { readonly path: string; readonly size: number }[] = [];
  const folders = [path];
  let seen = 0;
  for (let folder = folders.pop(); folder && seen < MAX_ENTRIES; folder = folders.pop()) {
    if (deadline.aborted) break;
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      seen++;
      const name = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(name);
      if (entry.isFile()) {
        files.push({ path: name, size: (await stat(name).catch(() => ({ size: 0 }))).size });
      }
    }
  }
  return files.sort((a, b) => b.size - a.size).slice(0, MAX_LISTED)
    .map((file) => `${(file.size / MIB).toFixed(1)} MiB ${file.path}`).join("\n");
}
