/** Receipts that are sealed one after the other while things are killed. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sealer } from "../ledger/mod.ts";
import type { Store } from "../store/mod.ts";

/** What is sealed meanwhile. */
export interface Sealing {
  /** Ends it. @returns how many receipts were acknowledged, and how many of them are not in the ledger as told */
  end(store: Store): Promise<{ acknowledged: number; lost: number }>;
}

const PAUSE_MS = 100;
const RECEIPT = {
  ...{ category: "chaos", actor: "bench", subject: "nothing", action: "seal", outcome: "sealed" },
};

/** Begins. What is not acknowledged in time is let be: nobody was promised it. */
export function keepSealing(sealer: Sealer): Sealing {
  const acknowledged = new Map<string, { position: number; hash: string }>();
  const requested = new Set<string>();
  const ending = new AbortController();
  const running = (async () => {
    while (!ending.signal.aborted) {
      const id = randomBytes(8).toString("hex");
      try {
        await sealer.request({ id, ...RECEIPT });
        requested.add(id);
        acknowledged.set(id, await sealer.sealed(id, { timeoutMs: 10_000, signal: ending.signal }));
      } catch {
        // its server was killed
      }
      await sleep(PAUSE_MS);
    }
  })();
  return {
    async end(store) {
      ending.abort();
      await running;
      for (const id of requested) await sealer.sealed(id); // it was said that it will be
      const rows = await store.asPlatform().query(
        "SELECT id, position, hash FROM receipts WHERE id = ANY ($1)",
        [[...requested]],
      );
      const kept = new Map(rows.map((row) => [row.id, row]));
      const told = [...acknowledged].filter(([id, { position, hash }]) => {
        const row = kept.get(id);
        return Number(row?.position) !== position || row!.hash.toString("hex") !== hash;
      });
      const missing = [...requested].filter((id) => !kept.has(id));
      return { acknowledged: requested.size, lost: told.length + missing.length };
    },
  };
}
