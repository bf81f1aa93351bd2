import { type CheckSummary, createTally, NOBLE } from "../checks/mod.ts";
import { byId } from "./dom.ts";
import { drawClaim, drawSummary } from "./draw.ts";
import {
  describeFailure,
  fetchCheckpoint,
  fetchClaim,
  fetchKeys,
  type JudgedCheckpoint,
  type ServerClaim,
} from "./fetch.ts";
import {
  forgetLastVisit,
  type LastVisit,
  nameVisit,
  readLastVisit,
  saveVisit,
} from "./last_visit.ts";
import type { FollowedList } from "./list.ts";
import type { Pool } from "./pool.ts";
import { createCheckQueue } from "./queue.ts";
import { readTrust, rememberCheckpoint } from "./trust.ts";

/** A chain up to this size is checked completely; of a longer one only the newest receipts are. */
const MAX_AUTOMATIC = 2_000;
const NEWEST = 1_000;
const POLL_MS = 4_000;

/** Checks the chain and its new receipts, and shows the progress. */
export function watchLedger(pool: Pool, list: FollowedList): void {
  const trust = readTrust();
  const sha256 = (bytes: Uint8Array) => NOBLE.fromHex(NOBLE.sha256(bytes));
  const tally = createTally({ trust, sha256 });
  const lastVisit = readLastVisit();
  const cuts = lastVisit ? [lastVisit.size - 1, lastVisit.size] : [];
  const queue = createCheckQueue(pool, tally, () => draw());
  let claim: ServerClaim | undefined;
  let checkpoint: JudgedCheckpoint | undefined;

  function start({ total, lastHash }: ServerClaim): void {
    tally.setHead(total, lastHash);
    if (lastVisit) tally.addKnownEnd(lastVisit.size, lastVisit.hash, nameVisit(lastVisit));
    if (total <= MAX_AUTOMATIC) queue.add(0, total, cuts);
    else {
      queue.add(total - NEWEST, total, cuts);
      if (lastVisit && lastVisit.size <= total) queue.add(lastVisit.size - 1, lastVisit.size);
    }
    queue.prefer(total);
  }

  /** Looks for new receipts, and checks them before it shows that they are there. */
  async function poll(): Promise<void> {
    if (document.hidden) return;
    try {
      // Before the number of receipts, so that an honest ledger has all that the checkpoint is of.
      checkpoint ??= await fetchCheckpoint(trust);
      const now = await fetchClaim();
      queue.setError(undefined);
      drawClaim(now);
      const before = claim;
      claim = now;
      if (!before && checkpoint) tally.setCheckpoint(checkpoint.judgement);
      if (now.total === 0) tally.setKeys((await fetchKeys()).keyProof); // no chunk will do so
      if (!before) start(now);
      else if (now.total > before.total) {
        queue.add(before.total, now.total, cuts);
        await Promise.all([queue.work(), list.follow()]);
      }
      tally.setHead(now.total, now.lastHash);
    } catch (error) {
      queue.setError(describeFailure(error));
    }
    queue.work();
    draw();
  }

  let isScheduled = false;
  function draw(): void {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      const summary = tally.summary();
      if (claim && isConfirmed(summary, claim, lastVisit)) {
        const day = new Date().toISOString().slice(0, 10);
        saveVisit({ size: claim.total, hash: claim.lastHash, day });
      }
      if (summary.state === "intact" && checkpoint?.note !== undefined) {
        rememberCheckpoint(trust, checkpoint.note);
      }
      drawSummary(summary, { ...queue.state(), lastVisit });
    });
  }

  byId("verdict-actions").addEventListener("click", ({ target }) => {
    const action = (target as HTMLElement).closest("button")?.dataset.action;
    if (action === "forget") {
      forgetLastVisit();
      return location.reload();
    }
    if (action === "all") queue.add(0, tally.summary().total, cuts);
    queue.setPaused(action === "pause");
    queue.work();
    draw();
  });
  document.addEventListener("visibilitychange", poll);
  setInterval(poll, POLL_MS);
  poll();
}

/** Returns true if the end of the chain was checked, and does not contradict the last visit. */
function isConfirmed(
  { state, total, ranges }: CheckSummary,
  claim: ServerClaim,
  lastVisit: LastVisit | undefined,
): boolean {
  if (state === "broken" || claim.total !== total || ranges.at(-1)?.[1] !== total) return false;
  return !lastVisit ||
    ranges.some(([from, to]) => from < lastVisit.size && lastVisit.size <= to);
}
