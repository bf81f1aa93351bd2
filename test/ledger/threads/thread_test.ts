import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import { startThread, type Thread, ThreadEnded } from "../../../ledger/threads/mod.ts";
import { program } from "../../_programs.ts";
import type { SlowMessage } from "./_slow_worker.ts";

const COUNT = 1_000;
const MAX_DELAY_MS = 50;

describe("startThread()", () => {
  const threads: Thread<SlowMessage, string>[] = [];
  let slowWorker: string;
  before(async () => {
    slowWorker = await program("test/ledger/threads/_slow_worker.ts");
  });
  afterEach(() => Promise.all(threads.splice(0).map((thread) => thread.close())));

  function start(): Thread<SlowMessage, string> {
    const thread = startThread<SlowMessage, string>(slowWorker, undefined);
    threads.push(thread);
    return thread;
  }

  it(`gives each of ${COUNT} overlapping messages its own answer`, async () => {
    let seed = randomInt(2 ** 31);
    console.log(`      seed ${seed}`);
    const random = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below;
    const thread = start();
    const finished: number[] = [];
    const results = await Promise.allSettled(Array.from({ length: COUNT }, async (_, n) => {
      const message = { text: `${n}`, delayMs: random(MAX_DELAY_MS), fails: random(10) === 0 };
      const expected = message.fails ? `Error: no answer to ${n}` : `answer to ${n}`;
      const answer = await thread.ask(message).catch(({ message }: Error) => message);
      finished.push(n);
      assert.equal(answer, expected);
    }));
    assert.deepEqual(results.filter(({ status }) => status === "rejected"), []);
    assert.notDeepEqual(finished, finished.toSorted((a, b) => a - b), "nothing overlapped");
    assert.equal(thread.pendingCount(), 0);
  });

  it("rejects all that waits when its thread ends, and all that is asked later", async () => {
    const thread = start();
    const slow = Array.from({ length: 20 }, (_, n) => thread.ask({ text: `${n}`, delayMs: 1e8 }));
    const last = thread.ask({ text: "last", delayMs: 0, ends: true });
    const results = await Promise.allSettled([...slow, last]);
    assert.ok(
      results.every((r) => r.status === "rejected" && r.reason instanceof ThreadEnded),
    );
    await assert.rejects(thread.ask({ text: "late", delayMs: 0 }), ThreadEnded);
    assert.equal(thread.pendingCount(), 0);
  });

  it("rejects all that waits when it is closed", async () => {
    const thread = start();
    const waiting = assert.rejects(thread.ask({ text: "1", delayMs: 1e8 }), ThreadEnded);
    await thread.close();
    await waiting;
  });

  it("rejects what waits where its program can't be loaded", async () => {
    const thread = startThread<string, string>(join(ROOT, "nowhere.mjs"), undefined);
    await assert.rejects(thread.ask("anything"), /nowhere\.mjs has failed/);
  });

  it("rejects a message that can't be sent, and answers the next one", async () => {
    const thread = start();
    const unsendable = { text: "1", delayMs: 0, callback: () => {} };
    await assert.rejects(thread.ask(unsendable), { name: "DataCloneError" });
    assert.equal(await thread.ask({ text: "2", delayMs: 0 }), "answer to 2");
    assert.equal(thread.pendingCount(), 0);
  });
});
