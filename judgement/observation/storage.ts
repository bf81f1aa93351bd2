import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Observation } from "../../contract/domain/mod.ts";
import { listServiceLogs, measureDisk } from "../detection/mod.ts";
import type { Observer, ObserverContext, Subject } from "./observer.ts";

/** From this share of a file system on, what fills it is looked for. */
const FULL_PERCENT = 90;
const MAX_ENTRIES = 20_000;
const MAX_LISTED = 10;
const MIB = 1_048_576;

/** Measures the file systems of the folders of a service. */
export const storage: Observer = {
  name: "storage",
  about:
    "Measures the file systems of the service's folders: space, inodes, whether they can be written, and what fills them",
  async observe(subject, context): Promise<Observation[]> {
    if (!subject.isLocal) return [];
    const all = foldersOf(subject, context).map((path) => look(path, context.deadline));
    const looks = await Promise.allSettled(all);
    return looks.flatMap((look) => look.status === "fulfilled" ? [look.value] : []); // else there is none
  },
};

/** Returns the folder that a service runs in, those of its logs, and that of a finding about a disk. */
function foldersOf({ service, record }: Subject, { config }: ObserverContext): string[] {
  const { restart } = service ?? {};
  const { cwd, env = {} } = restart && "process" in restart ? restart.process : {};
  const { kind, path } = record?.target ?? {};
  const named = Object.values(env).filter((value) => /^\/[^\s:;]+$/.test(value));
  return [
    ...new Set([
      ...(kind === "disk" && typeof path === "string" ? [path] : []),
      ...(cwd ? [cwd] : []),
      ...named,
      ...(service ? listServiceLogs(config, service.name) : []),
    ]),
  ];
}

async function look(path: string, deadline: AbortSignal): Promise<Observation> {
  const folder = (await stat(path)).isDirectory() ? path : join(path, "..");
  const { percent, inodesPercent = 0, freeBytes } = await measureDisk(folder);
  const readOnly = await isReadOnly(folder);
  const isFull = percent >= FULL_PERCENT || inodesPercent >= FULL_PERCENT;
  return {
    code: "measured",
    says: `The file system of ${folder} is ${percent.toFixed(1)} % full, ` +
      `${Math.round(freeBytes / MIB)} MiB are free, ${
        inodesPercent.toFixed(1)
      } % of its inodes are used` +
      `${readOnly ? ", and it can't be written" : ""}.`,
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

/** Returns whether the file system of a folder is mounted for reading alone. @see proc_pid_mountinfo(5) */
async function isReadOnly(folder: string): Promise<boolean> {
  const table = await readFile("/proc/self/mountinfo", "utf8").catch(() => "");
  const mounts = table.split("\n").map((line) => line.split(" "))
    .filter(([, , , , at]) =>
      at !== undefined && `${folder}/`.startsWith(at === "/" ? "/" : `${at}/`)
    )
    .sort((a, b) => a[4]!.length - b[4]!.length);
  return mounts.at(-1)?.[5]?.split(",").includes("ro") ?? false;
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
