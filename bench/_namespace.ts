/**
 * Machines by network namespaces: each has addresses of its own, so that `127.0.0.1:9000` is another server in each. Servers
 * of this machine are reached through sockets in a folder, as those don't belong to a network.
 */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { program } from "../test/_programs.ts";

/** A machine with a network of its own. */
export interface Namespace {
  /** Returns the command that runs a program there. @param ports of this machine that it reaches, by the same numbers */
  runAt(command: readonly string[], ports: readonly number[]): readonly string[];
  close(): Promise<void>;
}

/** Returns why this system makes no network namespaces; undefined: it does. */
export function namespaceProblem(): string | undefined {
  try {
    execFileSync("unshare", ["-rn", "ip", "link", "set", "lo", "up"], { stdio: "pipe" });
    return undefined;
  } catch (error) {
    return (error as Error).message.trim().split("\n").at(-1);
  }
}

/** Opens a machine. @param folder for its sockets, with a short path */
export async function openNamespace(folder: string): Promise<Namespace> {
  const bridge = await program("bench/_namespace_bridge.ts");
  const servers: Server[] = [];
  const sockets = new Set<Socket>();

  function offer(port: number): void {
    const server = createServer((client) => {
      const upstream = connect(port, "127.0.0.1").on("error", () => client.destroy());
      client.on("error", () => upstream.destroy());
      client.pipe(upstream).pipe(client);
      for (const one of [client, upstream]) {
        sockets.add(one.once("close", () => sockets.delete(one)));
      }
    });
    servers.push(server.listen(join(folder, `${port}.sock`)));
  }

  return {
    runAt(command, ports) {
      for (const port of ports) offer(port);
      const script = 'ip link set lo up; "$0" "$1" "$2" "$3" & shift 3; exec "$@"';
      const [node] = command;
      return [
        "unshare",
        "-rn",
        "sh",
        "-c",
        script,
        node!,
        bridge,
        folder,
        ports.join(),
        ...command,
      ];
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) {
        server.close();
        await once(server, "close");
      }
    },
  };
}
