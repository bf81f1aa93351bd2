import type { TcpSocket } from "../../integrations/host/mod.ts";
import { type Descriptors, socketsOf } from "./_descriptors.ts";

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
export function listOutgoing(
  descriptors: Descriptors,
  table: readonly TcpSocket[],
): OutgoingConnections {
  const sockets = socketsOf(descriptors);
  // A worker has connections of a socket on which only its parent listens.
  const accepting = new Set(
    table.filter(({ state }) => state === "listening").map(({ local }) => local.port),
  );
  const outgoing = table.filter(({ inode, local, state }) =>
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
