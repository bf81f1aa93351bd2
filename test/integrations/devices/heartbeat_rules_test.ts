import assert from "node:assert/strict";
import { isRolledBack, judgeUsedCounter } from "../../../integrations/devices/mod.ts";

describe("judgeUsedCounter()", () => {
  const [first, second, other] = ["1", "2", "3"].map((digit) => Buffer.from(digit.repeat(32)));
  const newest = { counter: 7, requests: [first!, second!] };

  it("knows the exact repetition of the newest heartbeat", () => {
    assert.equal(judgeUsedCounter(newest, { counter: 7, request: second! }), "repeated");
  });

  it("takes an earlier heartbeat that comes late for what it is", () => {
    assert.equal(judgeUsedCounter(newest, { counter: 6, request: first! }), "late");
  });

  it("finds a clone by the same counter with other content, and by a lower one", () => {
    assert.equal(judgeUsedCounter(newest, { counter: 7, request: other! }), "cloned");
    assert.equal(judgeUsedCounter(newest, { counter: 3, request: other! }), "cloned");
  });
});

describe("isRolledBack()", () => {
  const highest = { seq: 5, head: "a" };

  it("accepts the known end of a journal, and a later one", () => {
    assert.equal(isRolledBack({ seq: 5, head: "a" }, highest), false);
    assert.equal(isRolledBack({ seq: 6, head: "b" }, highest), false);
  });

  it("finds lines that are lost, and another line with a known number", () => {
    assert.equal(isRolledBack({ seq: 4, head: "c" }, highest), true);
    assert.equal(isRolledBack({ seq: 5, head: "b" }, highest), true);
  });
});
