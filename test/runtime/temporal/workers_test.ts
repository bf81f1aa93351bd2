import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { NativeConnection } from "@temporalio/worker";
import { loadConfig } from "../../../config.ts";
import type { Store } from "../../../store/mod.ts";
import { listWorkerQueues, startWorkers } from "../../../runtime/temporal/mod.ts";
import { testTemporal } from "../../_servers.ts";

describe("startWorkers()", () => {
  it("closes its connection where the workers can't be created", async () => {
    const { address, namespace } = await testTemporal();
    const connection = await NativeConnection.connect({ address });
    const starting = startWorkers({
      config: loadConfig({}),
      taskQueues: listWorkerQueues(loadConfig({})),
      activities: {},
      store: {} as Store, // no payload comes
      workflows: { workflowBundle: { codePath: "/nowhere/bundle.js" } },
      connect: () => Promise.resolve({ connection, namespace }),
      onFailure: assert.fail,
      onStuck: assert.fail,
    });
    await assert.rejects(starting, /nowhere/);
    await assert.rejects(connection.workflowService.getSystemInfo({}), /closed/i);
  });

  it("can be stopped where it takes none of the task queues", async () => {
    const { address, namespace } = await testTemporal();
    const workers = await startWorkers({
      config: loadConfig({}),
      taskQueues: [],
      activities: {},
      store: {} as Store, // no payload comes
      connect: async () => ({ connection: await NativeConnection.connect({ address }), namespace }),
      onFailure: assert.fail,
      onStuck: assert.fail,
    });
    await workers.stop();
  });
});

describe("startWorkers() that fails again and again", () => {
  it("leaves no threads behind where the server does not have the namespace", async function () {
    if (process.platform !== "linux") this.skip();
    const { address } = await testTemporal();
    const fail = () =>
      assert.rejects(startWorkers({
        config: loadConfig({}),
        taskQueues: listWorkerQueues(loadConfig({})),
        activities: {},
        store: {} as Store, // no payload comes
        connect: async () => ({
          connection: await NativeConnection.connect({ address }),
          namespace: "nowhere",
        }),
        onFailure: assert.fail,
        onStuck: assert.fail,
      }));
    await fail();
    const before = countThreads();
    for (let n = 0; n < 3; n++) await fail();
    assert.ok(countThreads() <= before + 2, `${before} threads, and then ${countThreads()}`);
  });
});

const countThreads = () => readdirSync("/proc/self/task").length;

describe("listWorkerQueues()", () => {
  it("lists all queues but the sequencer's, or those of the setting", () => {
    assert.deepEqual(listWorkerQueues(loadConfig({})), ["itsm", "ledger", "act", "media"]);
    const some = loadConfig({ SEALOOP_TASK_QUEUES: "ledger,sequencer" });
    assert.deepEqual(listWorkerQueues(some), ["ledger"]);
  });
});
