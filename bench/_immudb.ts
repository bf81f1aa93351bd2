import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, testFolder } from "../test/_run.ts";

/** A server of immudb on loopback. */
export interface Immudb {
  readonly port: number;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 30_000;
const POLL_MS = 100;

/**
 * Starts immudb with its defaults: it answers when an entry is on disk, and writes to disk every 20 ms.
 *
 * @param program path of its server
 */
export async function startImmudb(program: string): Promise<Immudb> {
  const [folder, port] = [await testFolder(), await freePort()];
  const args = [
    `--dir=${folder}`,
    "--address=127.0.0.1",
    `--port=${port}`,
    "--synced=true",
    "--metrics-server=false",
    "--pgsql-server=false",
    "--web-server=false",
    "--pidfile=",
  ];
  const server = spawn(program, args, { stdio: "ignore" });
  const stop = async () => {
    const ended = once(server, "exit");
    server.kill("SIGTERM");
    await ended;
  };
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!await listens(port)) {
    if (Date.now() > deadline || server.exitCode !== null) {
      server.kill("SIGKILL");
      throw new Error(`Cannot start immudb on port ${port}: it does not listen`);
    }
    await sleep(POLL_MS);
  }
  return { port, stop };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
      .once("connect", () => {
        socket.destroy();
        resolve(true);
      })
      .once("error", () => resolve(false));
  });
}
