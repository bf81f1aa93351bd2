import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sealer } from "../ledger/mod.ts";
import type { Store } from "../store/mod.ts";

/** Receipts that are sealed one after the other while servers and processes are killed. */
export interface BackgroundSealing {
  /**
   * Ends the sealing and compares the ledger with what was acknowledged.
   *
   * @returns how many requests were accepted, and how many of them are missing or differ
   */
  end(store: Store): Promise<{ accepted: number; lost: number }>;
}

const PAUSE_MS = 100;
const TIMEOUT_MS = 10_000;
const RECEIPT = {
  category: "chaos",
  actor: "bench",
  subject: "nothing",
  action: "seal",
  outcome: "sealed",
};

/** Begins to seal. A request that fails is not counted, as nothing was promised. */
export function startBackgroundSealing(sealer: Sealer): BackgroundSealing {
  const sealed = new Map<string, { position: number; hash: string }>();
  const accepted = new Set<string>();
  const ending = new AbortController();
  const running = sealUntilEnd();

  async function sealUntilEnd(): Promise<void> {
    const options = { timeoutMs: TIMEOUT_MS, signal: ending.signal };
    while (!ending.signal.aborted) {
      const id = randomBytes(8).toString("hex");
      try {
        await sealer.request({ id, ...RECEIPT });
        accepted.add(id);
        sealed.set(id, await sealer.sealed(id, options));
      } catch {
        // its server was killed
      }
      await sleep(PAUSE_MS);
    }
  }

  return {
    async end(store) {
      ending.abort();
      await running;
      for (const id of accepted) await sealer.sealed(id); // an accepted request is sealed in the end
      const rows = await store.asPlatform().query(
        "SELECT id, position, hash FROM receipts WHERE id = ANY ($1)",
        [[...accepted]],
      );
      const stored = new Map(rows.map((row) => [row.id, row]));
      const lost = [...accepted].filter((id) => {
        const row = stored.get(id);
        const expected = sealed.get(id);
        if (!row || !expected) return !row;
        return Number(row.position) !== expected.position ||
          row.hash.toString("hex") !== expected.hash;
      });
      return { accepted: accepted.size, lost: lost.length };
    },
  };
}
