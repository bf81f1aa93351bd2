import assert from "node:assert/strict";
import { createLog } from "../../../runtime/web/mod.ts";

describe("createLog()", () => {
  it("writes an error's kind, message, stack and code, and no values of rows", () => {
    const lines: string[] = [];
    const log = createLog("worker", "warn", { write: (line) => void lines.push(line) });
    const error = Object.assign(new TypeError("duplicate key"), {
      code: "23505",
      detail: "Key (email)=(maria@example.com) already exists.",
    });
    log.error({ err: error }, "It failed");
    const { err, msg } = JSON.parse(lines[0]!);
    assert.equal(msg, "It failed");
    assert.deepEqual(Object.keys(err), ["type", "message", "stack", "code"]);
    assert.deepEqual([err.type, err.message, err.code], ["TypeError", "duplicate key", "23505"]);
  });
});
