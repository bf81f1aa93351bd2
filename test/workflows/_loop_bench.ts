/** Everything that a loop needs, on real servers: a database, a namespace, and workers that can be killed. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { bundleWorkflowCode } from "@temporalio/worker";
import { loadConfig } from "../../config.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { ensureSequencer, registerTemporal } from "../../temporal/mod.ts";
import { testDatabase, testFolder, testTemporal } from "../_servers.ts";

/** A place for loops to run in. */
export interface LoopBench {
  readonly store: Store;
  readonly client: Client;
  readonly dataDir: string;
  /** Starts a worker. @param kill when and where it kills itself, once */
  work(kill?: { when: "before" | "after"; activity: string }): Promise<ChildProcess>;
  close(): Promise<void>;
}

let bundle: Promise<string> | undefined;

/** Bundles the workflows once a run: it takes seconds. */
async function workflowBundle(): Promise<string> {
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
  const workflowsPath = fileURLToPath(new URL("../../workflows/mod.ts", import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: quiet });
  const path = join(await testFolder(), "bundle.js");
  await writeFile(path, code);
  return path;
}

/** Makes such a place. */
export async function loopBench(): Promise<LoopBench> {
  const [{ urls }, { address, namespace }, dataDir, codePath] = await Promise.all([
    testDatabase(),
    testTemporal(),
    testFolder(),
    bundle ??= workflowBundle(),
  ]);
  const env = {
    SEALOOP_DATA: dataDir,
    SEALOOP_DATABASE_APP_URL: urls.app,
    SEALOOP_DATABASE_SEQUENCER_URL: urls.sequencer,
    SEALOOP_SWEEP_SECONDS: "86400",
  };
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  await registerTemporal(client, loadConfig(env));
  await ensureSequencer(client);
  const store = openStore(urls.app, "app");
  const workers: ChildProcess[] = [];
  return {
    store,
    client,
    dataDir,
    async work(kill) {
      const mark = join(dataDir, `killed-${workers.length}`);
      const child = fork(
        fileURLToPath(new URL("./_worker.ts", import.meta.url)),
        kill ? [kill.when, kill.activity, mark] : ["before", "nothing", mark],
        {
          execArgv: ["--import", "tsx"],
          env: {
            PATH: process.env.PATH,
            ...env,
            TEMPORAL_ADDRESS: address,
            TEMPORAL_NAMESPACE: namespace,
            WORKFLOW_BUNDLE: codePath,
          },
          stdio: ["ignore", "ignore", "ignore", "ipc"],
        },
      );
      workers.push(child);
      await Promise.race([once(child, "message"), once(child, "exit")]);
      return child;
    },
    async close() {
      for (const child of workers) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      await store.close();
      await connection.close();
    },
  };
}
