import { Problem } from "../../contract/mod.ts";

/** A receipt's place in the chain. */
export interface SealedReceipt {
  readonly id: string;
  /** From 0. */
  readonly position: number;
  /** SHA-256 of its canonical bytes, hex. */
  readonly hash: string;
}

/** Callers that wait for receipts, by the receipts' ids. */
export interface WaitList {
  /** Returns all ids that somebody waits for. */
  ids(): string[];
  /** Adds a caller. Its promise is rejected after the timeout, or with the reason of the signal. */
  add(id: string, timeoutMs: number, signal: AbortSignal | undefined): Promise<SealedReceipt>;
  /** Resolves the promises of all callers that wait for a receipt. */
  resolve(receipt: SealedReceipt): void;
  reject(id: string, error: unknown): void;
}

interface Waiter {
  readonly resolve: (receipt: SealedReceipt) => void;
  readonly reject: (error: unknown) => void;
}

/** Opens an empty wait list. */
export function openWaitList(): WaitList {
  const waiters = new Map<string, Set<Waiter>>();

  function insert(id: string, waiter: Waiter): void {
    const sameId = waiters.get(id);
    if (sameId) sameId.add(waiter);
    else waiters.set(id, new Set([waiter]));
  }

  function remove(id: string, waiter: Waiter): void {
    const sameId = waiters.get(id);
    sameId?.delete(waiter);
    if (sameId?.size === 0) waiters.delete(id);
  }

  return {
    ids: () => [...waiters.keys()],
    add: (id, timeoutMs, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const end = () => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", onAbort);
          remove(id, waiter);
        };
        const waiter: Waiter = {
          resolve(receipt) {
            end();
            resolve(receipt);
          },
          reject(error) {
            end();
            reject(error);
          },
        };
        const timer = setTimeout(() => {
          const message = `Receipt ${id} is queued, but was not sealed within ${timeoutMs} ms`;
          waiter.reject(new Problem("Unavailable", message));
        }, timeoutMs);
        const onAbort = () => waiter.reject(signal!.reason);
        signal?.addEventListener("abort", onAbort);
        insert(id, waiter);
      }),
    resolve: (receipt) => waiters.get(receipt.id)?.forEach(({ resolve }) => resolve(receipt)),
    reject: (id, error) => waiters.get(id)?.forEach(({ reject }) => reject(error)),
  };
}
