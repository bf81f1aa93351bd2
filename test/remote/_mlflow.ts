/** MLflow's tracking server from PyPI, installed into a cache and run on loopback. It takes spans over OTLP. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../_run.ts";

const VERSION = "3.17.2";
const FOLDER = join(homedir(), ".cache", "sealoop", "python", `mlflow-${VERSION}`);
/** Packages that the server itself needs; the libraries of machine learning that the package names as well are left out. */
const NEEDS = [
  `mlflow-skinny==${VERSION}`,
  "aiohttp",
  "alembic",
  "cachetools",
  "cryptography",
  "fastapi",
  "flask",
  "flask-cors",
  "graphene",
  "huey",
  "numpy",
  "pandas",
  "sqlalchemy",
  "sqlparse",
  "uvicorn",
];

/** Installs MLflow once. @returns the reason why it can't be had here; undefined: it is there */
export async function installMlflow(): Promise<string | undefined> {
  if (existsSync(join(FOLDER, "bin", "mlflow"))) return undefined;
  const run = promisify(execFile);
  try {
    await run("python3", ["-m", "venv", FOLDER]);
    const pip = (...args: string[]) =>
      run(join(FOLDER, "bin", "python"), ["-m", "pip", "install", "--quiet", ...args]);
    await pip(...NEEDS);
    await pip("--no-deps", `mlflow==${VERSION}`, `mlflow-tracing==${VERSION}`);
    return undefined;
  } catch (error) {
    await rm(FOLDER, { recursive: true, force: true });
    return `MLflow can't be had from PyPI here: ${(error as Error).message.split("\n")[0]}`;
  }
}

/** Starts a server. @param folder for its data */
export async function startMlflow(folder: string) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(join(FOLDER, "bin", "mlflow"), [
    "server",
    `--backend-store-uri=sqlite:///${folder}/mlflow.db`,
    `--default-artifact-root=${folder}/artifacts`,
    `--port=${port}`,
    "--workers=1",
  ], {
    cwd: folder,
    detached: true, // a group of its own, as it starts programs that have to end with it
    env: { PATH: `${FOLDER}/bin:${process.env.PATH}`, HOME: folder, MLFLOW_DISABLE_TELEMETRY: "1" },
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
