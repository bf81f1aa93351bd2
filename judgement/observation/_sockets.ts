import { readdir, readFile, readlink } from "node:fs/promises";

/** Connections that a process has opened itself, to what it needs. */
export interface OutgoingConnections {
  /** Descriptors of those that are open. */
  readonly descriptors: ReadonlySet<number>;
  /** Other ends, `address:port`, each once. */
  readonly to: readonly string[];
  /** Number of those that nobody has accepted yet. */
  readonly connecting: number;
}

/** States of connections, as `/proc/net/tcp` numbers them. @see proc_pid_net(5) */
const ESTABLISHED = "01";
const SYN_SENT = "02";
const LISTEN = "0A";

/** Lists the connections of a process that do not go to a port on which this host listens for it. */
export async function listOutgoing(pid: number): Promise<OutgoingConnections> {
  const [rows, sockets] = await Promise.all([readRows(pid), listOpenSockets(pid)]);
  const listening = new Set(
    rows.filter(({ state, inode }) => state === LISTEN && sockets.has(inode))
      .map(({ local }) => portOf(local)),
  );
  const own = rows.filter(({ inode, local, state }) =>
    sockets.has(inode) && !listening.has(portOf(local)) &&
    (state === ESTABLISHED || state === SYN_SENT)
  );
  // A worker has connections of a socket on which only its parent listens.
  const accepted = new Set(
    rows.filter(({ state }) => state === LISTEN).map(({ local }) => portOf(local)),
  );
  const outgoing = own.filter(({ local }) => !accepted.has(portOf(local)));
  return {
    descriptors: new Set(outgoing.map(({ inode }) => sockets.get(inode)!)),
    to: [...new Set(outgoing.map(({ remote }) => nameOf(remote)))],
    connecting: outgoing.filter(({ state }) => state === SYN_SENT).length,
  };
}

async function readRows(pid: number) {
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/${pid}/net/${name}`, "utf8").catch(() => "")),
  );
  return tables.flatMap((table) => table.split("\n").slice(1))
    .map((line) => line.trim().split(/\s+/)).filter(({ length }) => length > 9)
    .map((fields) => ({
      local: fields[1]!,
      remote: fields[2]!,
      state: fields[3]!,
      inode: fields[9]!,
    }));
}

/** Returns the descriptors of a process's sockets by their inodes. */
async function listOpenSockets(pid: number): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
    const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "");
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    if (inode) found.set(inode, Number(fd));
  }
  return found;
}

const portOf = (place: string) => Number.parseInt(place.split(":")[1]!, 16);

/** Names an address as the kernel prints it: 32-bit words, of which the last is the IPv4 address of a mapped one. */
function nameOf(place: string): string {
  const hex = place.split(":")[0]!.slice(-8);
  const address = [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(".");
  return `${address}:${portOf(place)}`;
}
