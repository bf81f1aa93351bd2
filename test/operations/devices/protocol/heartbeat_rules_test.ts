import assert from "node:assert/strict";
import { isRolledBack, judgeUsedCounter } from "../../../../operations/devices/protocol/mod.ts";

describe("judgeUsedCounter()", () => {
  const [first, second, other] = ["1", "2", "3"].map((digit) => Buffer.from(digit.repeat(32)));
  const newest = { counter: 7, requests: [first!, second!] };

  it("knows the exact repetition of the newest heartbeat", () => {
    assert.equal(judgeUsedCounter(newest, { counter: 7, request: second! }), "repeated");
  });

  it("takes an earlier heartbeat that comes late for what it is", () => {
    assert.equal(judgeUsedCounter(newest, { counter: 6, request: first! }), "late");
  });

  it("takes a lower counter for late, however long ago it was heard, or was never heard", () => {
    assert.equal(judgeUsedCounter(newest, { counter: 3, request: other! }), "late");
  });

  it("finds a clone by the newest counter with other content", () => {
    assert.equal(judgeUsedCounter(newest, { counter: 7, request: other! }), "cloned");
  });

  it("finds a clone by a counter that no device uses after the challenge that it repeats", () => {
    const challenged = { ...newest, challenge: { text: "c", counter: 5 } };
    const judge = (counter: number, challenge?: string) =>
      judgeUsedCounter(challenged, { counter, request: other!, challenge });
    assert.equal(judge(5, "c"), "cloned");
    assert.equal(judge(6, "c"), "late", "it may have been held back since");
    assert.equal(judge(5, "d"), "late");
    assert.equal(judge(5), "late");
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
