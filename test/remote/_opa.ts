/** Open Policy Agent, run on loopback. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { freePort } from "../_run.ts";

/**
 * Serves policies that clients with a token may ask.
 *
 * @param folder with the program
 * @param files Rego files
 */
export async function startOpa(folder: string, files: readonly string[]) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(join(folder, "opa"), [
    "run",
    "--server",
    `--addr=127.0.0.1:${port}`,
    "--authentication=token",
    "--authorization=basic",
    "--set=decision_logs.console=true",
    "--log-level=error",
    "--disable-telemetry",
    ...files,
  ], { stdio: "ignore" });
  const ended = once(server, "exit");
  for (let n = 0; n < 100; n++) {
    if (await fetch(`${url}/health`).then(() => true, () => false)) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    async close() {
      server.kill();
      await ended;
    },
  };
}
