import { setImmediate as turn } from "node:timers/promises";
import { prepareRequest, type SealRequest } from "../receipts/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { listen, type Row, type Store } from "../../store/mod.ts";
import { type Answer, type Entry, insert, type Run } from "./outbox.ts";

/** A receipt's place in the chain. */
export interface SealedReceipt {
  readonly id: string;
  /** From 0. */
  readonly position: number;
  /** SHA-256 of its canonical bytes, hex. */
  readonly hash: string;
}

/** A receipt that was asked for. */
export interface Requested extends Pick<Answer, "holds" | "found"> {
  readonly id: string;
}

/** Asks for receipts outside of any transaction, and waits for those asked for anywhere. */
export interface Sealer {
  /**
   * Asks for a receipt. What is asked for at the same time is committed together.
   *
   * @param row of another table, written if and only if the receipt is asked for; not again with the same receipt
   * @param options `when`: what must hold, else neither is written; `patient`: nobody waits for it, so that the sequencer
   * is told of it a tenth of a second later, once for all that came meanwhile; at once where somebody waits for it here
   * after all
   * @returns when the request is on disk; from then on it will be sealed. Where the condition did not hold, nothing is,
   * and will be
   * @throws {InvalidInput} the request can't be sealed
   * @throws {ReceiptConflict} the id is already taken by other content
   */
  request(
    request: SealRequest,
    row?: Row,
    options?: Pick<Entry, "patient" | "when">,
  ): Promise<Requested>;
  /**
   * Waits until a receipt is part of the chain.
   *
   * @param timeoutMs milliseconds, > 0; default 30,000
   * @throws {Problem} `Unavailable`: not sealed in time, though it will be; `InvalidInput`: refused
   */
  sealed(
    id: string,
    options?: { timeoutMs?: number; signal?: AbortSignal },
  ): Promise<SealedReceipt>;
  close(): Promise<void>;
}

interface Asked extends Entry {
  readonly resolve: (value: Requested) => void;
  readonly reject: (error: unknown) => void;
}
interface Waiter {
  readonly resolve: (value: SealedReceipt) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_AT_ONCE = 64;
/** Statements under way at once; one alone would have callers and sequencer wait for each other in turns. */
const MOST_STATEMENTS = 2;
const SAFETY_POLL_MS = 2_000;
/**
 * After this the sequencer is told of what nobody waits for, unless somebody begins to. To be told costs each statement a
 * tenth of its time, and a batch costs the sequencer, and all that watch the chain, about as much for one receipt as for
 * twenty.
 */
const WAKE_MS = 100;

/** Opens a sealer. @param store of role `app` */
export async function openSealer(store: Store): Promise<Sealer> {
  const waiters = new Map<string, Set<Waiter>>();
  const due = new Set<string>();
  const growth: Growth = { size: undefined, seen: undefined };
  const run = oneAtATime(() => settle(store, waiters, due, growth));
  const lookFor = (ids: Iterable<string>) => {
    for (const id of ids) due.add(id);
    if (due.size > 0) run();
  };
  const lookForAll = () => lookFor(waiters.keys());
  const listener = await listen(store, ["sealoop_sealed"], {
    onNotify(_channel, size) {
      if (size === "") return lookForAll();
      growth.size = Number(size);
      run();
    },
    onConnect() {
      growth.seen = undefined; // whatever was told meanwhile was missed
      lookForAll();
    },
  });
  const poll = setInterval(lookForAll, SAFETY_POLL_MS).unref();
  const waker = openWaker(store);
  const queue = groupCommit(store, waker);

  return {
    request: async (request, row, options) =>
      await queue({ prepared: prepareRequest(request), row, ...options }),
    sealed: (id, { timeoutMs = 30_000, signal } = {}) =>
      wait(waiters, id, timeoutMs, signal, () => {
        lookFor([id]);
        waker.hurry();
      }),
    async close() {
      clearInterval(poll);
      await listener.close();
      const gone = new Problem(
        "Unavailable",
        "The service is stopping; the receipt will still be sealed",
      );
      for (const all of waiters.values()) for (const { reject } of all) reject(gone);
    },
  };
}

/** Runs `work` when called; calls that come while it runs lead to one more run after it. */
function oneAtATime(work: () => Promise<void>): () => void {
  let running = false;
  let again = false;
  const run = async () => {
    running = true;
    do {
      again = false;
      await work().catch(() => {}); // the database is away: the next notification or poll looks again
    } while (again);
    running = false;
  };
  return () => {
    if (running) again = true;
    else void run();
  };
}

function groupCommit(store: Store, waker: Waker): (entry: Entry) => Promise<Requested> {
  const asked: Asked[] = [];
  let drains = 0;
  const drain = async () => {
    drains++;
    await turn(); // what is asked for by all that has come in by now goes together
    while (asked.length > 0) {
      const batch = asked.splice(0, alike(asked));
      await commit(store, batch);
      if (batch.every(({ patient }) => patient)) waker.soon();
    }
    drains--; // in the same turn as the look above: nothing can be asked for in between
  };
  return (entry) =>
    new Promise((resolve, reject) => {
      asked.push({ ...entry, resolve, reject });
      if (drains < MOST_STATEMENTS) void drain();
    });
}

/** Wakes the sequencer, once however often it is told to until then. */
interface Waker {
  soon(): void;
  /** At once, where it was to be woken soon. */
  hurry(): void;
}

function openWaker({ pool }: Store): Waker {
  let timer: NodeJS.Timeout | undefined;
  const wake = async () => {
    clearTimeout(timer);
    timer = undefined;
    const text = "SELECT pg_notify('sealoop_outbox', '')";
    await pool.query({ name: "seal_wake", text }).catch(() => {}); // it looks by itself each second
  };
  return {
    soon: () => void (timer ??= setTimeout(wake, WAKE_MS).unref()),
    hurry: () => void (timer && wake()),
  };
}

/** How many of those that wait first go into one statement: their rows and conditions must be of one form. */
function alike(asked: readonly Asked[]): number {
  const table = asked.find(({ row }) => row)?.row?.table;
  const condition = asked.find(({ when }) => when)?.when?.function;
  const other = asked.findIndex(({ row, when }) =>
    row && row.table !== table || when && when.function !== condition
  );
  return Math.min(other < 0 ? asked.length : other, MOST_AT_ONCE);
}

async function commit(store: Store, batch: readonly Asked[]): Promise<void> {
  try {
    const run: Run = (text, values, name) => store.pool.query({ name, text, values: [...values] });
    const answers = await insert(run, batch);
    batch.forEach(({ prepared, resolve, reject }, i) => {
      const { conflict, holds, found } = answers[i]!;
      if (conflict) reject(conflict);
      else resolve({ id: prepared.id, holds, found });
    });
  } catch (error) {
    if (batch.length > 1 && isOfOne(error)) {
      for (const one of batch) await commit(store, [one]);
      return;
    }
    const away = new Problem("Unavailable", "The ledger's outbox can't be written", {
      cause: error,
    });
    for (const { reject } of batch) reject(away);
  }
}

/** Whether the database refused what one of them says, data exception or constraint, so that others can be written. */
function isOfOne(error: unknown): boolean {
  return /^2[23]/.test(String((error as { code?: unknown }).code));
}

function wait(
  waiters: Map<string, Set<Waiter>>,
  id: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  lookUp: () => void,
): Promise<SealedReceipt> {
  return new Promise((resolve, reject) => {
    const all = waiters.get(id) ?? new Set();
    waiters.set(id, all);
    const done = <T>(tell: (value: T) => void) => (value: T) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
      all.delete(waiter);
      if (all.size === 0 && waiters.get(id) === all) waiters.delete(id);
      tell(value);
    };
    const waiter: Waiter = { resolve: done(resolve), reject: done(reject) };
    const aborted = () => waiter.reject(signal!.reason);
    const timer = setTimeout(() => {
      waiter.reject(
        new Problem(
          "Unavailable",
          `Receipt ${id} is queued, but was not sealed within ${timeoutMs} ms`,
        ),
      );
    }, timeoutMs);
    all.add(waiter);
    signal?.addEventListener("abort", aborted);
    if (signal?.aborted) return aborted();
    lookUp();
  });
}

/** How long the chain is, as it was last told, and up to where it was looked through for those who wait. */
interface Growth {
  size: number | undefined;
  seen: number | undefined;
}

/** More new receipts than this are not looked through: then each id is looked for. */
const MOST_NEW = 2_000;

/**
 * Looks for all that is due: for ids where somebody begins to wait, and among the new receipts where the chain has
 * grown, which costs less than to look for each id again. What is not there yet is found when it has grown again.
 */
async function settle(
  store: Store,
  waiters: Map<string, Set<Waiter>>,
  due: Set<string>,
  growth: Growth,
): Promise<void> {
  const { size, seen } = growth;
  growth.seen = size;
  if (size !== undefined && size !== seen && waiters.size > 0) {
    if (seen === undefined || size < seen || size - seen > MOST_NEW) {
      for (const id of waiters.keys()) due.add(id);
    } else await settleNew(store, waiters, seen, size);
  }
  const ids = [...due].filter((id) => waiters.has(id));
  due.clear();
  if (ids.length > 0) await settleDue(store, waiters, ids);
}

async function settleNew(
  store: Store,
  waiters: Map<string, Set<Waiter>>,
  from: number,
  to: number,
): Promise<void> {
  const { rows } = await store.pool.query({
    name: "seal_new",
    text: `SELECT id, position, encode(hash, 'hex') AS hash FROM receipts
           WHERE position >= $1 AND position < $2`,
    values: [from, to],
  });
  for (const { id, position, hash } of rows) {
    for (const { resolve } of waiters.get(id) ?? []) {
      resolve({ id, position: Number(position), hash });
    }
  }
}

async function settleDue(
  store: Store,
  waiters: Map<string, Set<Waiter>>,
  ids: readonly string[],
): Promise<void> {
  const { rows } = await store.pool.query({
    name: "seal_lookup",
    text:
      `SELECT id, position, encode(hash, 'hex') AS hash, NULL AS reason FROM receipts WHERE id = ANY ($1)
           UNION ALL SELECT id, NULL, NULL, reason FROM seal_refusals WHERE id = ANY ($1)`,
    values: [ids],
  });
  for (const { id, position, hash, reason } of rows) {
    for (const { resolve, reject } of waiters.get(id) ?? []) {
      if (reason === null) resolve({ id, position: Number(position), hash });
      else reject(new Problem("InvalidInput", `Receipt ${id} was refused: ${reason}`));
    }
  }
}
