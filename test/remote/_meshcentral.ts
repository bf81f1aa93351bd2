/** MeshCentral from its npm package, run on loopback with a data folder of its own. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { WebSocket } from "ws";
import { freePort } from "../_run.ts";

/** A password with a colon and a comma, which its header could mistake. */
export const PASSWORD = "pass:word,1";
export const USER = "robot";
export const DEVICE = `node//${"a".repeat(64)}`;

/**
 * Serves one site administrator and one device, which no agent connects: agents want a certificate of the server's.
 *
 * @param folder that it is installed in
 * @param home empty folder
 */
export async function startMeshCentral(folder: string, home: string) {
  const program = join(folder, "node_modules", "meshcentral", "meshcentral.js");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const data = join(home, "data");
  await mkdir(data, { recursive: true });
  await writeFile(
    join(data, "config.json"),
    JSON.stringify({
      settings: {
        port,
        portBind: "127.0.0.1",
        redirPort: 0,
        mpsPort: 0,
        tlsOffload: "127.0.0.1",
        WANonly: true,
        selfUpdate: false,
      },
      domains: { "": { newAccounts: false, agentTimeStampServer: false } },
    }),
  );
  const folders = ["--datapath", data, "--filespath", join(home, "files")];
  const args = [program, ...folders, "--npmpath=none"]; // else it fetches what it misses, unpinned
  const run = (...more: string[]) => promisify(execFile)(process.execPath, [...args, ...more]);
  async function serve() {
    const server = spawn(process.execPath, args, { stdio: "ignore", cwd: home });
    const ended = once(server, "exit");
    for (let n = 0; n < 600; n++) {
      if (await fetch(url).then(() => true, () => false)) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return async () => {
      server.kill();
      await ended;
    };
  }
  await run("--createaccount", USER, "--pass", PASSWORD);
  await run("--adminaccount", USER);
  const stop = await serve();
  const { meshid } = await command(url, { action: "createmesh", meshname: "Web", meshtype: 2 });
  await new Promise((resolve) => setTimeout(resolve, 2_000)); // it answers before it has written
  await stop();
  const device = { type: "node", _id: DEVICE, meshid, mtype: 2, domain: "", icon: 1, agent: {} };
  const names = { name: "web-1", host: "web-1.example", ip: "192.0.2.7" };
  await appendFile(join(data, "meshcentral.db"), `${JSON.stringify({ ...device, ...names })}\n`);
  return { url, close: await serve() };
}

/** Sends a message as the administrator. @returns the answer to it */
export async function command(
  url: string,
  message: { readonly action: string; readonly [field: string]: unknown },
): Promise<Record<string, unknown>> {
  const auth = [USER, PASSWORD].map((text) => Buffer.from(text).toString("base64")).join(",");
  const socket = new WebSocket(`${url.replace("http", "ws")}/control.ashx`, {
    headers: { "x-meshauth": auth },
  });
  try {
    return await new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`No answer to ${message.action}`)), 20_000).unref();
      socket.on("error", reject);
      socket.on("message", (data) => {
        const received = JSON.parse(data.toString());
        if (received.action === "serverinfo") socket.send(JSON.stringify(message));
        else if (received.action === message.action) resolve(received);
      });
    });
  } finally {
    socket.terminate();
  }
}
