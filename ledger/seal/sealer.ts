import { Problem } from "../../contract/mod.ts";
import { batch, type Db, listen, type Store } from "../../store/mod.ts";
import { type PreparedRequest, prepareRequest, type SealRequest } from "../receipts/mod.ts";
import { openWaitList, type SealedReceipt } from "./_wait_list.ts";
import { addRequests } from "./request.ts";

/** Requests receipts outside of transactions, and waits for receipts that were requested anywhere. */
export interface Sealer {
  /**
   * Requests a receipt. Requests that arrive at the same time are committed together.
   *
   * @returns once the request is on disk; from then on it will be sealed
   * @throws {InvalidInput} the request can't be sealed
   * @throws {ReceiptConflict} the id is already taken by other content
   * @throws {Problem} `Unavailable`: the outbox can't be written; `ReceiptTimeRefused`: its time is not now
   */
  request(request: SealRequest): Promise<{ id: string }>;
  /**
   * Waits until a receipt is part of the chain.
   *
   * @param options `timeoutMs` > 0, default 30,000
   * @throws {Problem} `Unavailable`: not sealed in time, though it will be; `InvalidInput`: refused
   */
  sealed(
    id: string,
    options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<SealedReceipt>;
  close(): Promise<void>;
}

const MAX_REQUESTS = 64;
/** Statements at a time. With one, callers and the sequencer would take turns to wait for each other. */
const MAX_STATEMENTS = 2;
const SAFETY_POLL_MS = 2_000;

/** Asks the sequencer to seal at once, instead of gathering requests for a moment. */
const HURRY = { name: "seal_hurry", text: "SELECT pg_notify('sealoop_outbox', 'now')" };
const LOOK_UP = {
  name: "seal_lookup",
  text: `SELECT id, position, encode(hash, 'hex') AS hash, NULL AS reason
           FROM receipts WHERE id = ANY ($1)
         UNION ALL
         SELECT id, NULL, NULL, reason FROM seal_refusals WHERE id = ANY ($1)`,
};

/** Opens a sealer. */
export async function openSealer(store: Store): Promise<Sealer> {
  const db = store.asPlatform();
  const waitList = openWaitList();
  const write = batch<PreparedRequest, { id: string }>(
    (requests) => writeRequests(db, requests),
    { maxSize: MAX_REQUESTS, concurrency: MAX_STATEMENTS },
  );
  /** Looks up receipts, and tells the callers of those that are sealed or refused. */
  async function lookUp(ids: readonly string[]): Promise<void> {
    for (const { id, position, hash, reason } of await db.query(LOOK_UP, [ids])) {
      if (reason === null) {
        waitList.resolve({ id, position: Number(position), hash });
      } else {
        const refused = new Problem("InvalidInput", `Receipt ${id} was refused: ${reason}`);
        waitList.reject(id, refused);
      }
    }
  }
  const lookUpNew = batch<string, void>(async (ids) => {
    await Promise.all([db.query(HURRY), lookUp(ids)]);
    return ids.map(() => undefined);
  });
  const lookUpAll = batch<void, void>(async (calls) => {
    const ids = waitList.ids();
    if (ids.length > 0) await lookUp(ids);
    return calls;
  });
  // While the database is away this fails; the next notification or poll tries again.
  const look = () => void lookUpAll().catch(() => {});

  const listener = await listen(store, ["sealoop_sealed"], { onNotify: look, onConnect: look });
  const poll = setInterval(look, SAFETY_POLL_MS).unref();
  return {
    request: async (request) => await write(prepareRequest(request)),
    sealed(id, { timeoutMs = 30_000, signal } = {}) {
      const receipt = waitList.add(id, timeoutMs, signal);
      lookUpNew(id).catch(() => {});
      return receipt;
    },
    async close() {
      clearInterval(poll);
      await listener.close();
      const message = "The service is stopping; the receipt will still be sealed";
      for (const id of waitList.ids()) waitList.reject(id, new Problem("Unavailable", message));
    },
  };
}

async function writeRequests(
  db: Db,
  requests: readonly PreparedRequest[],
): Promise<({ id: string } | Error)[]> {
  try {
    const conflicts = await addRequests(db, requests);
    return requests.map(({ id }, n) => conflicts[n] ?? { id });
  } catch (cause) {
    if (requests.length > 1 && isRefusedData(cause)) {
      const results: ({ id: string } | Error)[] = [];
      for (const request of requests) results.push(...await writeRequests(db, [request]));
      return results;
    }
    if (cause instanceof Problem) return requests.map(() => cause);
    const message = "The ledger's outbox can't be written";
    return requests.map(() => new Problem("Unavailable", message, { cause }));
  }
}

/** Returns true for data exceptions and violated constraints: one request causes them, and the others can be written. */
function isRefusedData(error: unknown): boolean {
  if (error instanceof Problem) return error.name === "ReceiptTimeRefused";
  return /^2[23]/.test(String((error as { code?: unknown }).code));
}
