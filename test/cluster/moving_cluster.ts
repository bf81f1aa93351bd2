/** The commands of "Moving to a cluster" of the documentation, as a reader types them, and nothing else. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT } from "../../config.ts";
import { platformSettings } from "../_platform.ts";
import { testFolder } from "../_run.ts";
import { skipSuite } from "../remote/_skip.ts";
import { fetchPatroni, fetchTemporal } from "./_fetch.ts";
import { figures } from "./_figures.ts";
import { type PatroniCluster, startPatroni } from "./_patroni.ts";
import { startTemporalCluster, type TemporalCluster } from "./_temporal.ts";

/** Returns the lines of the section. */
function readCommands(): string {
  const page = readFileSync(join(ROOT, "docs", "operating.md"), "utf8");
  const [, section = ""] = page.split("\n### The commands\n");
  const blocks = section.split(/\n##/)[0]!.matchAll(/^```sh\n(.*?)^```$/gms);
  return [...blocks].map(([, text]) => text).join("");
}

/** Ends the processes that a shell has left in the background; none is left where it failed early. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGTERM");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

describe("moving to a cluster", function () {
  this.timeout(900_000);
  let patroni: PatroniCluster;
  let temporal: TemporalCluster;
  let database: URL;

  before(async function () {
    const environment = await fetchPatroni();
    if ("missing" in environment) return skipSuite(this, environment.missing);
    const programs = await fetchTemporal();
    if ("missing" in programs) return skipSuite(this, programs.missing);
    const folder = await testFolder();
    patroni = await startPatroni(environment.folder, join(folder, "patroni"), ["a", "b"]);
    const { port } = await patroni.untilSynchronous();
    const { name, password } = patroni.superuser;
    database = new URL(`postgres://${name}:${password}@127.0.0.1:${port}/postgres`);
    temporal = await startTemporalCluster(programs.folder, join(folder, "temporal"), database.href);
  });
  after(async () => {
    await temporal?.stop();
    await patroni?.stop();
  });

  it("takes the documented commands, line by line", async () => {
    const commands = readCommands();
    const folder = await testFolder();
    const { SEALOOP_POSTGRES_PORT: _, ...settings } = await platformSettings(join(folder, "data"));
    const { port, password } = database;
    const here = commands
      .replaceAll("npm run", `npm --prefix ${ROOT} run`)
      .replaceAll("db.example:5432", database.host)
      .replaceAll("-h db.example", `-h 127.0.0.1 -p ${port}`)
      .replaceAll("temporal.example:7233", temporal.address)
      .replaceAll("engine.example:8083", `127.0.0.1:${settings.SEALOOP_ENGINE_PORT}`)
      .replaceAll(":8080", `:${settings.SEALOOP_GATEWAY_PORT}`)
      .replaceAll(":8082", `:${settings.SEALOOP_LEDGER_PORT}`);
    const startedMs = performance.now();
    const shell = spawn("bash", ["-e", "-c", here], {
      cwd: folder,
      detached: true, // a group of its own, which ends together
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        HOME: process.env.HOME,
        PATH: [patroni.programs, process.env.PATH].join(delimiter),
        PGPASSWORD: password,
        ...settings,
      },
    });
    let output = "";
    for (const stream of [shell.stdout, shell.stderr]) {
      stream.on("data", (chunk: Buffer) => output += chunk.toString());
    }
    try {
      const [code] = await once(shell, "exit");
      assert.equal(code, 0, output.slice(-4_000));
      assert.match(output, /\d+ receipts .*, 0 problems/);
      figures("Moving to a cluster", {
        lines: commands.trim().split("\n").length,
        "until the chain is verified, s": (performance.now() - startedMs) / 1_000,
      });
    } finally {
      endGroup(shell.pid!);
    }
  });
});
