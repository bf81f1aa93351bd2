import { readTcpTable } from "../../integrations/host/mod.ts";
import { listProc, readProcLink } from "./_proc.ts";

/** Connections that a process has opened itself, to what it needs. */
export interface OutgoingConnections {
  /** Descriptors of those that are open. */
  readonly descriptors: ReadonlySet<number>;
  /** Other ends, `address:port`, each once. */
  readonly to: readonly string[];
  /** Number of those that nobody has accepted yet. */
  readonly connecting: number;
}

/** Lists the connections of a process that do not go to a port on which this host listens for it. */
export async function listOutgoing(pid: number): Promise<OutgoingConnections> {
  const rows = await readTcpTable(pid);
  const sockets = listOpenSockets(pid);
  // A worker has connections of a socket on which only its parent listens.
  const accepting = new Set(
    rows.filter(({ state }) => state === "listening").map(({ local }) => local.port),
  );
  const outgoing = rows.filter(({ inode, local, state }) =>
    sockets.has(inode) && !accepting.has(local.port) &&
    (state === "established" || state === "connecting")
  );
  return {
    descriptors: new Set(outgoing.map(({ inode }) => sockets.get(inode)!)),
    to: [...new Set(outgoing.map(({ remote }) => nameOf(remote)))],
    connecting: outgoing.filter(({ state }) => state === "connecting").length,
  };
}

function nameOf({ address, port }: { readonly address: string; readonly port: number }): string {
  return `${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** Returns the descriptors of a process's sockets by their inodes. */
function listOpenSockets(pid: number): Map<string, number> {
  const found = new Map<string, number>();
  for (const fd of listProc(`/proc/${pid}/fd`)) {
    const target = readProcLink(`/proc/${pid}/fd/${fd}`);
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    if (inode) found.set(inode, Number(fd));
  }
  return found;
}
