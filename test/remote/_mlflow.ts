/** MLflow's tracking server from PyPI, run on loopback. It takes spans over OTLP. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Download, installPython } from "../_download.ts";
import { freePort } from "../_run.ts";

/**
 * Installs MLflow once. Its pins leave out the libraries of machine learning that the package names, which the server
 * itself does not need; so pip takes the list as it is.
 */
export function installMlflow(): Promise<Download> {
  return installPython("mlflow", ["--no-deps"]);
}

/**
 * Starts a server.
 *
 * @param installed folder that it is installed in
 * @param folder for its data
 */
export async function startMlflow(installed: string, folder: string) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(join(installed, "bin", "python"), [
    "-m",
    "mlflow",
    "server",
    `--backend-store-uri=sqlite:///${folder}/mlflow.db`,
    `--default-artifact-root=${folder}/artifacts`,
    `--port=${port}`,
    "--workers=1",
  ], {
    cwd: folder,
    detached: true, // a group of its own, as it starts programs that have to end with it
    env: {
      PATH: `${installed}/bin:${process.env.PATH}`,
      HOME: folder,
      MLFLOW_DISABLE_TELEMETRY: "1",
    },
    stdio: "ignore",
  });
  const ended = once(server, "exit");
  for (let n = 0; n < 600; n++) {
    if (await fetch(`${url}/health`).then(({ ok }) => ok, () => false)) break;
    if (server.exitCode !== null) throw new Error("MLflow ended at its start");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    async close() {
      if (server.exitCode === null) process.kill(-server.pid!, "SIGTERM");
      await ended;
    },
  };
}
