/** Runs of all kinds whose worker is killed with -9, on one platform. A new row goes to a file of `kills/`. */
import assert from "node:assert/strict";
import { exportReceipts, listLedgerKeys, verifyChain } from "../../ledger/mod.ts";
import { eventually } from "../_time.ts";
import { type KillSubject, runWave, startWorkerChain } from "./_kill_stage.ts";
import { type LoopBench, openLoopBench } from "./_loop_bench.ts";
import { readReceipts } from "./_ticket_record.ts";
import { approvalKills } from "./kills/approvals.ts";
import { articleKills } from "./kills/articles.ts";
import { conversationKills } from "./kills/conversations.ts";
import { itemKills } from "./kills/items.ts";
import { loopKills } from "./kills/loops.ts";
import { mailKills } from "./kills/mail.ts";
import { runbookKills } from "./kills/runbooks.ts";
import { silenceKills } from "./kills/silences.ts";
import { videoKills } from "./kills/videos.ts";

/** Rows of a wave die together, so they take about as long until then. */
const WAVES: readonly (readonly KillSubject[])[] = [
  [approvalKills, conversationKills, mailKills],
  [loopKills, runbookKills],
  [articleKills, itemKills, silenceKills],
  [videoKills],
];
const SUBJECTS = WAVES.flat();

describe("runs whose worker is killed with -9:", () => {
  let bench: LoopBench;
  let running: Promise<unknown> = Promise.resolve();
  const ends = new Map<string, Promise<void>>();

  before(async () => {
    const settings = await Promise.all(SUBJECTS.map((subject) => subject.open?.()));
    bench = await openLoopBench({ settings: Object.assign({}, ...settings) });
    for (const { prepare } of SUBJECTS) await prepare?.(bench);
    const workers = await startWorkerChain(bench);
    for (const wave of WAVES) {
      const rows = wave.flatMap(({ rows }) => rows);
      const ending = running.then(() => runWave(bench, workers, rows));
      rows.forEach(({ name }, n) => ends.set(name, ending.then(async (all) => await all[n])));
      running = ending.then((all) => Promise.allSettled(all));
    }
    for (const end of ends.values()) end.catch(() => {}); // reported by its test
  });
  after(async () => {
    await running;
    await bench?.close();
    for (const { close } of SUBJECTS) await close?.();
  });

  for (const { rows, skip } of SUBJECTS) {
    for (const { name } of rows) {
      it(name, async function () {
        await skip?.(this);
        await ends.get(name);
      });
    }
  }

  it("the chain of all is unbroken, and has each act and each of its ends once", async () => {
    await running;
    await eventually(async () => {
      const [outbox] = await bench.store.asPlatform().query("SELECT FROM seal_outbox LIMIT 1");
      return outbox === undefined || undefined;
    });
    const texts = (await exportReceipts(bench.store, { from: 0, to: 10_000 }))
      .map(({ text }) => text);
    const { breaks } = await verifyChain(texts, await listLedgerKeys(bench.store));
    assert.deepEqual(breaks, []);
    const said = (await readReceipts(bench.store)).map(
      ({ subject, category, action, outcome, details }) =>
        JSON.stringify([subject, category, action, outcome, details]),
    );
    assert.deepEqual(said.filter((one, n) => said.indexOf(one) !== n), []);
  });
});
