import { setImmediate as turn } from "node:timers/promises";
import type { JournalObjects } from "../../../ledger/signer/mod.ts";

/** Objects in memory. Each request takes effect at once, and its answer comes after a random number of turns. */
export class MemoryObjects implements JournalObjects {
  readonly stored = new Map<string, Buffer>();

  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    const isNew = !this.stored.has(key);
    if (isNew) this.stored.set(key, Buffer.from(bytes));
    await this.#delay();
    return isNew;
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    this.stored.set(key, Buffer.from(bytes));
    await this.#delay();
  }

  async get(key: string): Promise<Buffer | undefined> {
    const bytes = this.stored.get(key);
    await this.#delay();
    return bytes;
  }

  async remove(key: string): Promise<void> {
    this.stored.delete(key);
    await this.#delay();
  }

  async *list(prefix: string) {
    const found = [...this.stored].filter(([key]) => key.startsWith(prefix));
    await this.#delay();
    yield* found.map(([key, { length }]) => ({ key, bytes: length }));
  }

  async #delay(): Promise<void> {
    for (let n = Math.floor(Math.random() * 4); n > 0; n--) await turn();
  }
}
