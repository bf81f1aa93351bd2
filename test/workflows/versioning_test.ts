import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { NativeConnection } from "@temporalio/worker";
import { loadConfig } from "../../config.ts";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import {
  ensureSequencer,
  registerTemporal,
  startWorkers,
  type Workers,
} from "../../runtime/temporal/mod.ts";
import { eventually } from "../_time.ts";
import {
  bundleTestWorkflows,
  createAllActivities,
  installQuietRuntime,
  openParts,
  withoutSchedules,
} from "./_loop.ts";

describe("workers of a named build", () => {
  let parts: Awaited<ReturnType<typeof openParts>>;
  const running: Workers[] = [];
  before(async () => {
    installQuietRuntime();
    parts = await openParts();
    await registerTemporal(parts.client, withoutSchedules(parts.config, []));
    await ensureSequencer(parts.client);
  });
  after(async () => {
    parts.stopping.abort();
    await Promise.all(running.map((workers) => workers.stop()));
    await parts.close();
  });

  async function work(build: string): Promise<void> {
    const { address, namespace } = parts.place;
    const named = loadConfig({ SEALOOP_WORKER_BUILD: build });
    running.push(
      await startWorkers({
        config: { ...parts.config, settings: { ...parts.config.settings, ...only(named) } },
        taskQueues: Object.values(TASK_QUEUE),
        activities: createAllActivities({ ...parts, stopping: parts.stopping.signal }),
        store: parts.store,
        workflows: { workflowBundle: await bundleTestWorkflows() },
        connect: async () => ({
          connection: await NativeConnection.connect({ address }),
          namespace,
        }),
        onFailure: (error) => console.error(error),
        onStuck: (reason) => console.error(reason),
      }),
    );
  }
  const only = ({ settings: { SEALOOP_WORKER_BUILD } }: ReturnType<typeof loadConfig>) => ({
    SEALOOP_WORKER_BUILD,
  });

  /** As `temporal worker deployment set-current-version` does. */
  async function makeCurrent(buildId: string): Promise<void> {
    const { workflowService } = parts.client;
    await eventually(() =>
      workflowService.setWorkerDeploymentCurrentVersion({
        namespace: parts.place.namespace,
        deploymentName: "sealoop",
        buildId,
        identity: "test",
      }).then(() => true, () => undefined)
    );
  }

  async function sweep(workflowId: string) {
    const options = { taskQueue: TASK_QUEUE.itsm, workflowId, args: [] };
    return await parts.client.workflow.start(WORKFLOW.itsmSweep, options);
  }

  it("take work once their build is current", async () => {
    await work("1.0.0");
    const run = await sweep("versioned-1");
    await sleep(1_000);
    assert.equal((await run.describe()).status.name, "RUNNING");
    assert.equal((await run.fetchHistory()).events?.length, 2, "no worker has taken it");
    await makeCurrent("1.0.0");
    assert.ok(await run.result());
  });

  it("hand over to the next build", async () => {
    await work("1.1.0");
    await makeCurrent("1.1.0");
    const run = await sweep("versioned-2");
    assert.ok(await run.result());
    const { events } = await run.fetchHistory();
    const builds = events!.flatMap((event) =>
      event.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId ?? []
    );
    assert.ok(builds.length > 0);
    assert.deepEqual([...new Set(builds)], ["1.1.0"]);
  });
});
