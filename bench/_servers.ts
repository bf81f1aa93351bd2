/** Servers in processes of their own, and requests to them that cost this process as little as can be. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";

/** A server that listens. */
export interface Server {
  readonly address: string;
  /** All that it told with its address. */
  readonly told: { readonly address: string; readonly keys: readonly string[] };
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

/**
 * Starts a script that tells its address.
 *
 * @param path from this folder; of the house in its compiled form
 * @param node options of Node
 */
export async function startServer(
  path: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  node: readonly string[] = [],
): Promise<Server> {
  const child = fork(fileURLToPath(new URL(path, import.meta.url)), args, {
    execArgv: [...node, ...(path.endsWith(".ts") ? ["--import", "tsx"] : [])],
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const told = await new Promise<Server["told"]>((resolve, reject) => {
    child.on("message", (message: Partial<Server["told"]>) => {
      if (message.address) resolve({ keys: [], ...message, address: message.address });
    });
    child.once("exit", (code) => reject(new Error(`${path} ended with ${code}`)));
  });
  return {
    address: told.address,
    told,
    process: child,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

const HEAD_END = "\r\n\r\n";
const LENGTH = /\r\ncontent-length: (\d+)\r\n/i;

/** Asks for each path, over connections that each wait for one answer before the next. @returns milliseconds */
export async function ask(
  address: string,
  paths: readonly string[],
  connections: number,
): Promise<number> {
  const { hostname, port } = new URL(address);
  const sockets = await Promise.all(Array.from({ length: connections }, async () => {
    const socket = connect(Number(port), hostname).setNoDelay();
    await once(socket, "connect");
    return socket;
  }));
  let next = 0;
  const started = performance.now();
  await Promise.all(sockets.map(async (socket) => {
    while (next < paths.length) await answer(socket, paths[next++]!);
  }));
  const ms = performance.now() - started;
  for (const socket of sockets) socket.destroy();
  return ms;
}

/** Waits for one answer, which says how long it is. @throws {Error} it is not 200 */
function answer(socket: Socket, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let got = 0;
    let length = 0;
    const end = (error?: Error) => {
      socket.off("data", take).off("close", closed);
      if (error) reject(error);
      else resolve();
    };
    const take = (chunk: Buffer) => {
      got += chunk.length;
      if (length === 0) {
        const head = chunk.subarray(0, 4096).toString("latin1");
        const found = LENGTH.exec(head);
        if (!head.startsWith("HTTP/1.1 200") || !found) {
          return end(new Error(`${path} was answered ${head.slice(0, 600)}`));
        }
        length = head.indexOf(HEAD_END) + HEAD_END.length + Number(found[1]);
      }
      if (got >= length) end();
    };
    const closed = () => end(new Error(`The connection ended within the answer to ${path}`));
    socket.on("data", take).once("close", closed);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  });
}
