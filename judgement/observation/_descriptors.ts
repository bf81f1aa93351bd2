/** The descriptors of a process, and whether it leaks them. */
import type { Observation } from "../../contract/domain/mod.ts";
import type { TcpSocket } from "../../integrations/host/mod.ts";
import { listProc, readProcLink } from "./_proc.ts";

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

/** Files, sockets and other things that a process has open, by their descriptors. @see proc_pid_fd(5) */
export type Descriptors = ReadonlyMap<number, string>;

/** Reads the descriptors of a process, at most 10,000; empty: they are not visible. */
export function readDescriptors(pid: number): Descriptors {
  const fds = listProc(`/proc/${pid}/fd`).slice(0, MAX_DESCRIPTORS);
  return new Map(fds.map((fd) => [Number(fd), readProcLink(`/proc/${pid}/fd/${fd}`)]));
}

/** Returns the descriptors of sockets by their inodes. */
export function socketsOf(descriptors: Descriptors): ReadonlyMap<string, number> {
  return new Map([...descriptors].flatMap(([fd, target]) => {
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    return inode ? [[inode, fd] as const] : [];
  }));
}

/**
 * Counts the descriptors of a process, those of the file that it has open most often, and its connections that the other
 * side has closed. Devices and pipes are opened often without a fault.
 */
export function countDescriptors(descriptors: Descriptors, table: readonly TcpSocket[]) {
  const counts = new Map<string, number>();
  for (const target of descriptors.values()) {
    if (/^\/(?!dev\/|proc\/)/.test(target)) counts.set(target, (counts.get(target) ?? 0) + 1);
  }
  const sockets = socketsOf(descriptors);
  const halfClosed = table.filter(({ state, inode }) =>
    state === "half_closed" && sockets.has(inode)
  );
  return {
    open: descriptors.size,
    ofOneFile: Math.max(0, ...counts.values()),
    halfClosed: halfClosed.length,
  };
}
