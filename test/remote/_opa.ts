/** Open Policy Agent, built from its Go module into a cache and run on loopback. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "../_run.ts";
import { buildGo, goProgram } from "./_go.ts";

/** Builds OPA once. @returns the reason why it can't be had here; undefined: it is there */
export async function buildOpa(): Promise<string | undefined> {
  return await buildGo("opa", "github.com/open-policy-agent/opa@v1.4.2");
}

/** Serves policies that clients with a token may ask. @param files Rego files */
export async function startOpa(files: readonly string[]) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(goProgram("opa"), [
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
