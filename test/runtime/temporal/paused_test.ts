import assert from "node:assert/strict";
import { Client, type ConnectionLike } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import type { Store } from "../../../store/mod.ts";
import { clientFor } from "../../../runtime/temporal/mod.ts";

/** Statuses on the wire, by their names there. */
const SHOWN = { 1: "RUNNING", 2: "COMPLETED", 5: "TERMINATED", 8: "RUNNING" } as const;

describe("the status of a run", () => {
  it("is RUNNING while it is paused, so that nobody ends what it has begun", async () => {
    for (const [status, name] of Object.entries(SHOWN)) {
      const workflowExecutionInfo = {
        status: Number(status),
        execution: { workflowId: "publish-1", runId: "1" },
        type: { name: "publish" },
        startTime: msToTs(1),
        historyLength: { toNumber: () => 1 },
      };
      const describeWorkflowExecution = () => Promise.resolve({ workflowExecutionInfo });
      const connection = { plugins: [], workflowService: { describeWorkflowExecution } };
      const bare = new Client({ connection: connection as unknown as ConnectionLike });
      const run = clientFor(bare, {} as Store).workflow.getHandle("publish-1");
      assert.equal((await run.describe()).status.name, name);
    }
  });
});
