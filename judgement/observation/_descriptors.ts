/** The descriptors of a process, and whether it leaks them. */
import { readdir, readlink } from "node:fs/promises";
import type { Observation } from "../../contract/domain/mod.ts";
import { readTcpTable } from "../../integrations/host/mod.ts";

type Figures = NonNullable<Observation["figures"]>;

/** Fewer descriptors of one kind say nothing about a leak, and nothing does while there are some left. */
const MIN_LEAK = 20;
const EXHAUSTED_SHARE = 0.8;
const MAX_DESCRIPTORS = 10_000;

/** Says which descriptors a process does not close; empty: it has some left, or many are of no one kind. */
export function describeLeak(
  { open_files, open_files_share, of_one_file = 0, half_closed = 0 }: Figures,
): string {
  if (Number(open_files_share) < EXHAUSTED_SHARE) return "";
  const isMany = (count: Figures[string]) =>
    Number(count) >= MIN_LEAK && Number(count) >= Number(open_files) / 3;
  const leaks = [
    ...(isMany(of_one_file) ? [`${of_one_file} of them on one file`] : []),
    ...(isMany(half_closed)
      ? [`${half_closed} of them connections that the other side has closed`]
      : []),
  ];
  return leaks.length > 0 ? ` (${leaks.join(", ")}: it does not close them)` : "";
}

/**
 * Counts the descriptors of a process, those of the file that it has open most often, and its connections that the other
 * side has closed; undefined: they are not visible. Devices and pipes are opened often without a fault.
 */
export async function readDescriptors(pid: number) {
  const fds = await readdir(`/proc/${pid}/fd`).catch(() => undefined);
  if (!fds) return undefined;
  const counts = new Map<string, number>();
  const sockets = new Set<string>();
  for (const fd of fds.slice(0, MAX_DESCRIPTORS)) {
    const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "");
    const [, inode] = /^socket:\[(\d+)\]$/.exec(target) ?? [];
    if (inode) sockets.add(inode);
    if (/^\/(?!dev\/|proc\/)/.test(target)) counts.set(target, (counts.get(target) ?? 0) + 1);
  }
  const rows = await readTcpTable(pid);
  const halfClosed = rows.filter(({ state, inode }) =>
    state === "half_closed" && sockets.has(inode)
  );
  return {
    open: fds.length,
    ofOneFile: Math.max(0, ...counts.values()),
    halfClosed: halfClosed.length,
  };
}
