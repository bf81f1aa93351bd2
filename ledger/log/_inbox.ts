import { setTimeout as sleep } from "node:timers/promises";
import type { Hash } from "../rules/mod.ts";

/** Leaves that were committed to the chain and are not in the log yet. */
export interface Inbox {
  /** @param position of the first leaf */
  add(position: number, leaves: readonly Hash[]): void;
  /** Takes all leaves from a position on; returns undefined where the inbox is empty or begins later. */
  take(position: number): Hash[] | undefined;
  /** Returns the size of the chain, as far as leaves were added. */
  size(): number;
  /** Waits until leaves were added, at most so long. @returns whether there are any */
  wait(timeoutMs: number): Promise<boolean>;
}

/** Leaves that are held in memory, about. Those beyond are read from the database. */
const MAX_LEAVES = 65_536;

/** Opens an inbox. @param signal ends a wait */
export function openInbox(signal: AbortSignal): Inbox {
  let first = 0;
  let waiting: Hash[] = [];
  let end = 0;
  let wake = () => {};
  signal.addEventListener("abort", () => wake());
  return {
    add(position, leaves) {
      const follows = position === first + waiting.length;
      if (!follows) waiting = []; // a gap: the missing ones are read from the database
      if (waiting.length === 0) first = position;
      if (waiting.length < MAX_LEAVES) waiting.push(...leaves);
      end = position + leaves.length;
      wake();
    },
    take(position) {
      const from = position - first;
      const leaves = from >= 0 && from < waiting.length ? waiting.slice(from) : undefined;
      waiting = [];
      return leaves;
    },
    size: () => end,
    async wait(timeoutMs) {
      if (waiting.length > 0 || signal.aborted) return true;
      const timeout = new AbortController();
      const added = new Promise<boolean>((resolve) => wake = () => resolve(true));
      const late = sleep(timeoutMs, false, { signal: timeout.signal }).catch(() => false);
      const result = await Promise.race([added, late]);
      timeout.abort();
      return result;
    },
  };
}
