import { createTally, gaps, joined, planned } from "../tally.ts";
import { drawClaim, drawSummary } from "./draw.ts";
import { byId } from "./dom.ts";
import { type Claim, fetchClaim, fetchPublished, NotAnswered } from "./export.ts";
import type { Pool } from "./pool.ts";
import { forgetSeen, keepSeen, seenBefore } from "./seen.ts";

/** Receipts of one piece of work; they are fetched and checked together. */
const CHUNK = 250;
/** A chain up to this long is checked whole by itself; of a longer one the newest part. */
const AUTOMATIC = 2_000;
const NEWEST = 1_000;
const POLL_MS = 4_000;

type Range = readonly [from: number, to: number];

/** Checks the chain, goes on with what is new, and shows how far it has come. */
export function watchLedger(pool: Pool): void {
  const tally = createTally();
  const seen = seenBefore();
  const queue: { readonly from: number; readonly to: number }[] = [];
  let taken: Range[] = [];
  let claim: Claim | undefined;
  let [running, paused] = [0, false];
  let trouble: string | undefined;

  /** Puts stretches to be checked in the queue, none of them twice. */
  function plan(from: number, to: number): void {
    const cuts = seen ? [seen.size - 1, seen.size] : [];
    for (const [start, end] of gaps(taken, to)) {
      if (end <= from) continue;
      queue.push(...planned(Math.max(from, start), end, CHUNK, cuts));
    }
    taken = joined([...taken, [from, to]]);
  }

  function begin({ total, lastHash }: Claim): void {
    tally.head(total, lastHash);
    if (seen) tally.known(seen.size, seen.hash, `what this browser saw on ${seen.day}`);
    if (total <= AUTOMATIC) plan(0, total);
    else {
      plan(total - NEWEST, total);
      if (seen && seen.size <= total) plan(seen.size - 1, seen.size);
    }
    const newest = queue.findLastIndex(({ to }) => to === total);
    if (newest > 0) queue.unshift(...queue.splice(newest, 1));
  }

  /** Looks for what is new, and checks it before it says that it is there. */
  async function look(): Promise<void> {
    if (document.hidden) return;
    try {
      const now = await fetchClaim();
      trouble = undefined;
      drawClaim(now);
      const before = claim;
      claim = now;
      if (!before) begin(now);
      else if (now.total > before.total) {
        plan(before.total, now.total);
        await work();
      }
      tally.head(now.total, now.lastHash);
    } catch (error) {
      if (!(error instanceof NotAnswered)) throw error;
      trouble = error.message;
    }
    work();
    draw();
  }

  /** Has the queue worked off by all threads. */
  async function work(): Promise<void> {
    const threads: Promise<void>[] = [];
    while (running + threads.length < pool.size && threads.length < queue.length) {
      threads.push(thread());
    }
    running += threads.length;
    await Promise.all(threads);
  }

  async function thread(): Promise<void> {
    await Promise.resolve();
    try {
      const published = await fetchPublished();
      while (!paused && queue.length > 0) {
        const range = queue.shift()!;
        const outcome = await pool.run({ task: { do: "range", ...range }, ...published });
        if (!("chunk" in outcome)) {
          queue.unshift(range);
          trouble = "failed" in outcome ? outcome.failed : "The check gave nothing";
          return;
        }
        tally.add(outcome.chunk);
        draw();
      }
    } catch (error) {
      if (!(error instanceof NotAnswered)) throw error;
      trouble = error.message;
    } finally {
      running--;
      draw();
    }
  }

  let asked = false;
  function draw(): void {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      const summary = tally.summary();
      remember(summary);
      const open = summary.total - taken.reduce((sum, [from, to]) => sum + to - from, 0);
      drawSummary(summary, {
        running: running > 0,
        paused,
        waiting: queue.length,
        open,
        trouble,
        seen,
      });
    });
  }

  /** Keeps what is seen, once it is known not to contradict what was. */
  function remember({ state, total, ranges }: ReturnType<typeof tally.summary>): void {
    const last = ranges.at(-1);
    if (state === "broken" || claim?.total !== total || last?.[1] !== total) return;
    if (seen && !ranges.some(([from, to]) => from < seen.size && seen.size <= to)) return;
    keepSeen({ size: total, hash: claim.lastHash, day: new Date().toISOString().slice(0, 10) });
  }

  byId("verdict-actions").addEventListener("click", ({ target }) => {
    const action = (target as HTMLElement).closest("button")?.dataset.action;
    if (action === "forget") {
      forgetSeen();
      return location.reload();
    }
    if (action === "all") plan(0, tally.summary().total);
    paused = action === "pause";
    work();
    draw();
  });
  document.addEventListener("visibilitychange", look);
  setInterval(look, POLL_MS);
  look();
}
