/** Servers in processes of their own, and requests to them that cost this process as little as possible. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { program } from "../test/_programs.ts";
import { timeMs } from "./_work.ts";

/** A server that listens. */
export interface Server {
  readonly address: string;
  /** Keys that it issued. */
  readonly keys: readonly string[];
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

/** Message of a server that listens. */
interface Report {
  readonly address?: string;
  readonly keys?: readonly string[];
}

/**
 * Starts a server from its bundle, the form that users run.
 *
 * @param source path of the program's source in the project
 * @param env all of its environment but `PATH`
 */
export async function startServer(
  source: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const child = fork(await program(source), args, {
    execArgv: [],
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const { address, keys } = await new Promise<Required<Report>>((resolve, reject) => {
    child.on("message", ({ address, keys = [] }: Report) => {
      if (address !== undefined) resolve({ address, keys });
    });
    child.once(
      "exit",
      (code) => reject(new Error(`Cannot start ${source}: it ended with ${code}`)),
    );
  });
  return {
    address,
    keys,
    process: child,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

/** Requests each path with GET. Each connection has one request at a time. @returns milliseconds */
export async function requestAll(
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
  const ms = await timeMs(() =>
    Promise.all(sockets.map(async (socket) => {
      while (next < paths.length) await request(socket, paths[next++]!);
    }))
  );
  for (const socket of sockets) socket.destroy();
  return ms;
}

const HEAD_END = "\r\n\r\n";
const CONTENT_LENGTH = /\r\ncontent-length: (\d+)\r\n/i;

/** Requests a path and reads the answer. @throws {Error} its status is not 200, or it has no content-length */
function request(socket: Socket, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = 0;
    let expected = 0;
    const end = (error?: Error) => {
      socket.off("data", read).off("close", onClose);
      if (error) reject(error);
      else resolve();
    };
    const read = (chunk: Buffer) => {
      received += chunk.length;
      if (expected === 0) {
        const head = chunk.subarray(0, 4096).toString("latin1");
        const match = CONTENT_LENGTH.exec(head);
        if (!head.startsWith("HTTP/1.1 200") || !match) {
          return end(new Error(`GET ${path} was answered ${head.slice(0, 600)}`));
        }
        expected = head.indexOf(HEAD_END) + HEAD_END.length + Number(match[1]);
      }
      if (received >= expected) end();
    };
    const onClose = () => end(new Error(`The connection closed before the answer to GET ${path}`));
    socket.on("data", read).once("close", onClose);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  });
}
