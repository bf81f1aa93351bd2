import assert from "node:assert/strict";
import { startTestWorkers, type TestWorkers } from "./_workers.ts";

/** Attempts of a codec to reach the database. Half a second lies between two. */
const ATTEMPTS = 14;

describe("workers, while the database is away", () => {
  let started: TestWorkers | undefined;
  afterEach(async () => {
    await started?.close();
    started = undefined;
  });

  /** Starts a run, and cuts the database while its activity works. @returns what waits for its result */
  async function cutInActivity(): Promise<{ result(): Promise<unknown>; runs(): number }> {
    let runs = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => release = resolve);
    let begin = () => {};
    const begun = new Promise<void>((resolve) => begin = resolve);
    started = await startTestWorkers(async ({ note }) => {
      runs++;
      begin();
      await released;
      return { note: `${note}, mended` };
    });
    const handle = await started.client.workflow.start("hand", {
      taskQueue: "itsm",
      workflowId: "hand",
      args: [{ note: "The printer of Zoe" }],
    });
    await begun;
    started.database.cut();
    release();
    await started.database.refused();
    return { result: () => handle.result(), runs: () => runs };
  }

  it("wait with payloads, and go on when it is back, with heartbeats meanwhile", async () => {
    const { result, runs } = await cutInActivity();
    for (let n = 1; n < ATTEMPTS; n++) await started!.database.refused();
    started!.database.restore();
    assert.deepEqual(await result(), { note: "The printer of Zoe, mended" });
    assert.equal(runs(), 1, "the activity was taken for dead");
    assert.deepEqual([started!.failures, started!.stuck], [[], []]);
  });

  it("end when they are told to", async () => {
    await cutInActivity();
    await started!.workers.stop();
    assert.deepEqual([started!.failures, started!.stuck], [[], []]);
  });
});

describe("workers of which the server sees no poll", () => {
  it("end the process once database and Temporal answer", async () => {
    let tell = (_: string) => {};
    const told = new Promise<string>((resolve) => tell = resolve);
    const started = await startTestWorkers((note) => Promise.resolve(note), {
      onStuck: tell,
      stuckAfterMs: 1_000,
      seenQueue: "a-queue-that-nobody-polls",
      isCut: true,
    });
    try {
      let reason: string | undefined;
      void told.then((text) => reason = text);
      for (let n = 0; n < ATTEMPTS; n++) await started.database.refused();
      assert.equal(reason, undefined, "the database is away");
      started.database.restore();
      assert.match(await told, /^The task queue itsm is not polled, 1 s after/);
    } finally {
      await started.close();
    }
  });

  it("tell how long ago it saw one", async () => {
    const started = await startTestWorkers((note) => Promise.resolve(note));
    try {
      const { itsm } = started.workers.pollAges();
      assert.ok(itsm !== undefined && itsm >= 0, String(itsm));
    } finally {
      await started.close();
    }
  });
});
