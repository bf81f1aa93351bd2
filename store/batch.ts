import { setImmediate as endOfTurn } from "node:timers/promises";

/** Limits of {@linkcode batch}. */
export interface BatchOptions {
  /** Most items of one run. Default: no limit. */
  readonly maxSize?: number;
  /** Most runs at a time. Default: 1. */
  readonly concurrency?: number;
}

/**
 * Groups calls that arrive at the same time, so that one statement serves all of them.
 *
 * An item joins the next run that starts after its call, never one that is under way: no result is older than its call.
 *
 * ```ts
 * const findKeys = batch((hashes: Buffer[]) => db.query("SELECT … WHERE key_hash = ANY ($1)", [hashes]).then(inOrder));
 * const key = await findKeys(hash);
 * ```
 *
 * @param run gives one result an item, in the order of the items; an `Error` among them is thrown to its own caller
 */
export function batch<Item, Result>(
  run: (items: Item[]) => Promise<(Result | Error)[]>,
  { maxSize = Infinity, concurrency = 1 }: BatchOptions = {},
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let running = 0;

  async function drain(): Promise<void> {
    running++;
    await endOfTurn(); // everything that arrives in this turn of the event loop goes together
    while (waiting.length > 0) {
      const taken = waiting.slice(0, maxSize);
      waiting = waiting.slice(maxSize);
      await settle(taken);
    }
    running--;
  }

  async function settle(taken: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(taken.map(({ item }) => item));
      taken.forEach(({ resolve, reject }, n) => {
        const result = results[n]!;
        if (result instanceof Error) reject(result);
        else resolve(result);
      });
    } catch (error) {
      for (const { reject } of taken) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running < concurrency) void drain();
    });
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}
