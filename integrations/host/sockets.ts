import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { basename } from "node:path";
import { promisify } from "node:util";
import { readTcpTable } from "./tcp_table.ts";

/** A TCP socket of this host that accepts connections. */
export interface ListeningSocket {
  readonly port: number;
  /** IPv4 or IPv6 address that it listens on; `0.0.0.0` and `::` are all of them. */
  readonly address: string;
  /** Process that holds it; absent where it is not visible. */
  readonly pid?: number;
  /** Name of the process's program. */
  readonly program?: string;
}

/**
 * Lists the TCP sockets of this host that accept connections, with the processes that hold them as far as they are visible.
 *
 * @returns by port, ascending; empty where the system offers no way to list them
 */
export async function listSockets(): Promise<ListeningSocket[]> {
  const sockets = process.platform === "linux" ? await listFromProc() : await listFromLsof();
  return sockets.sort((a, b) => a.port - b.port);
}

/**
 * Returns the TCP socket of this host that accepts connections on a port, or undefined. Who holds a socket is looked for
 * once, as that means to look into every process.
 */
export async function findListener(port: number): Promise<ListeningSocket | undefined> {
  if (process.platform !== "linux") return (await listFromLsof()).find((one) => one.port === port);
  const row = (await readListening()).find((one) => one.port === port);
  if (!row) return undefined;
  const known = knownHolders.get(row.inode);
  const isKnown = known?.pid !== undefined && existsSync(`/proc/${known.pid}`);
  const holder = isKnown ? known : (await findHolders(new Set([row.inode]))).get(row.inode);
  if (knownHolders.size >= MAX_KNOWN) knownHolders.clear();
  if (holder) knownHolders.set(row.inode, holder);
  return { port, address: row.address, ...holder };
}

/** Holders of sockets by their inodes, which the kernel does not give again soon. */
const knownHolders = new Map<string, Holder>();
const MAX_KNOWN = 1_000;

async function listFromProc(): Promise<ListeningSocket[]> {
  const rows = await readListening();
  const holders = await findHolders(new Set(rows.map(({ inode }) => inode)));
  return rows.map(({ port, address, inode }) => ({ port, address, ...holders.get(inode) }));
}

/** Reads the sockets that accept connections. */
async function readListening() {
  return (await readTcpTable()).filter(({ state }) => state === "listening")
    .map(({ local, inode }) => ({ ...local, inode }));
}

type Holder = Pick<ListeningSocket, "pid" | "program">;

/** Finds the processes that have these sockets open; those that are not visible are skipped. */
async function findHolders(inodes: ReadonlySet<string>): Promise<Map<string, Holder>> {
  const holders = new Map<string, Holder>();
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  await Promise.all(pids.map(async (pid) => {
    const held: string[] = [];
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "");
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      if (inode && inodes.has(inode)) held.push(inode);
    }
    if (held.length === 0) return;
    const program = await programName(pid);
    for (const inode of held) {
      // The workers of a server share its socket; the server itself has the lowest process id.
      if ((holders.get(inode)?.pid ?? Infinity) > Number(pid)) {
        holders.set(inode, { pid: Number(pid), program });
      }
    }
  }));
  return holders;
}

/** Reads the name of the program's file: `comm` is renamed by threads and cut at 15 characters. */
async function programName(pid: string): Promise<string | undefined> {
  const path = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
  return path ? basename(path.replace(/ \(deleted\)$/, "")) : undefined;
}

/** @see lsof(8), "Output for other programs" */
async function listFromLsof(): Promise<ListeningSocket[]> {
  const { stdout } = await promisify(execFile)("lsof", ["-nP", "-iTCP", "-sTCP:LISTEN", "-FpcnT"])
    .catch(() => ({ stdout: "" }));
  const sockets: ListeningSocket[] = [];
  let pid: number | undefined;
  let program: string | undefined;
  for (const line of stdout.split("\n")) {
    const value = line.slice(1);
    if (line.startsWith("p")) pid = Number(value);
    if (line.startsWith("c")) program = value;
    const [, host, port] = line.startsWith("n") ? /^(.*):(\d+)$/.exec(value) ?? [] : [];
    if (!port) continue;
    const address = host === "*" ? "::" : host!.replace(/^\[|\]$/g, "");
    sockets.push({ port: Number(port), address, pid, program });
  }
  return sockets;
}
