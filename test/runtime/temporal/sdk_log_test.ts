import assert from "node:assert/strict";
import { createSdkLogger } from "../../../runtime/temporal/mod.ts";
import { createLog } from "../../../runtime/web/mod.ts";

describe("createSdkLogger()", () => {
  it("logs a message with the activity, its run, the attempt and the error", () => {
    const lines: string[] = [];
    const log = createLog("worker", "warn", { write: (line) => void lines.push(line) });
    const sdk = createSdkLogger(log);
    sdk.log("DEBUG", "Activity started");
    sdk.log("WARN", "Activity failed", {
      activityType: "breakTestService",
      attempt: 7,
      taskToken: "private",
      taskQueue: "itsm",
      workflowId: "test-4f1c2b9e",
      workflowRunId: "a-run",
      workflowType: "itsmTest",
      error: new Error("nobody listens there"),
    });
    const [{ time: _, err, ...line }, ...more] = lines.map((line) => JSON.parse(line));
    assert.deepEqual(more, []);
    assert.equal(err.message, "nobody listens there");
    assert.deepEqual(line, {
      level: "warn",
      service: "worker",
      sdk: true,
      msg: "Activity failed",
      activity: "breakTestService",
      attempt: 7,
      task_queue: "itsm",
      workflow: "itsmTest",
      workflow_id: "test-4f1c2b9e",
      run_id: "a-run",
    });
  });
});
