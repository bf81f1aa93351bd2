import { open, readdir, readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";
import { runProgram } from "./_program.ts";

/** Waits of the threads of a process, as far as the system shows them. */
export interface ThreadWaits {
  /** Threads that wait for a lock, without those that wait for work. Absent: they can't be told apart. */
  readonly lock_waits?: number;
  /** Threads that wait for an answer on a connection which the process has opened. */
  readonly answer_waits?: number;
}

const MAX_THREADS = 200;
/** Numbers of the system calls futex, and of those that read from the descriptor that is their first argument. @see syscalls(2) */
const CALLS: Readonly<Record<string, { readonly futex: number; readonly read: number[] }>> = {
  x64: { futex: 202, read: [0, 19, 45, 47] },
  arm64: { futex: 98, read: [63, 65, 207, 212] },
};
/** Section of programs that were compiled from Go. */
const GO_SECTION = ".gopclntab";
const TAIL_BYTES = 128 * 1_024;

/**
 * Counts threads by what they wait for. Threads that wait for work wait for a lock, too: those of a pool of Node share one;
 * those of Go and Java can't be told from others, so they are not counted.
 *
 * @param outgoing descriptors of the connections that the process has opened
 * @see proc_pid_syscall(5)
 */
export async function countWaits(
  pid: number,
  outgoing: ReadonlySet<number>,
): Promise<ThreadWaits> {
  const calls = CALLS[process.arch];
  const ids = await readdir(`/proc/${pid}/task`).catch(() => []);
  if (!calls) return {};
  const texts = await Promise.all(
    ids.slice(0, MAX_THREADS).map((id) =>
      readFile(`/proc/${pid}/task/${id}/syscall`, "utf8").catch(() => undefined)
    ),
  );
  const waits = texts.filter((text) => text !== undefined).map((text) => text.split(" "));
  if (waits.length === 0) return {};
  const answer_waits =
    waits.filter(([call, descriptor]) =>
      calls.read.includes(Number(call)) && outgoing.has(Number(descriptor))
    ).length;
  const language = await languageOf(pid);
  if (language === "go" || language === "java") return { answer_waits };
  const places = new Map<string, number>();
  for (const [call, place] of waits) {
    if (Number(call) === calls.futex) places.set(place!, (places.get(place!) ?? 0) + 1);
  }
  const alone = [...places.values()].filter((threads) => threads === 1).length;
  // Of Node, one more thread waits: for a debugger.
  return {
    answer_waits,
    lock_waits: language === "node" ? Math.max(0, alone - 1) : places.size,
  };
}

/** Asks a Java virtual machine for a deadlock. @returns its words; undefined: there is none, or it can't be asked */
export async function findJavaDeadlock(pid: number): Promise<string | undefined> {
  if (await languageOf(pid) !== "java") return undefined;
  const { text } = await runProgram(["jcmd", String(pid), "Thread.print"]).catch(() => ({
    text: "",
  }));
  const at = text.search(/Found (?:one|\d+) Java-level deadlock/);
  return at === -1 ? undefined : text.slice(at);
}

async function languageOf(pid: number): Promise<"node" | "java" | "go" | undefined> {
  const path = `/proc/${pid}/exe`;
  const program = basename(await readlink(path).catch(() => ""));
  if (program === "node" || program === "java") return program;
  const file = await open(path, "r").catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    await file.read(bytes, 0, bytes.length, size - bytes.length);
    return bytes.includes(GO_SECTION) ? "go" : undefined;
  } finally {
    await file.close();
  }
}
