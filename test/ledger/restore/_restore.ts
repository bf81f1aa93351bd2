/** A ledger whose database was put back to an older state, and its exports. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "../../../config.ts";
import {
  exportReceipts,
  getHead,
  getPublishedCheckpoint,
  listLedgerKeys,
  readLogSettings,
  restoreLedger,
  type RestoreOptions,
  type RestoreResult,
  verifyChain,
} from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { startSealing, type TestSealing } from "../_ledger.ts";

/** A ledger that can be put back and restored. */
export interface RestoreSetup {
  readonly sealing: TestSealing;
  /** Texts of all receipts that were sealed. */
  readonly texts: readonly string[];
  /** Puts the database back to a state with so many receipts, whose requests wait in the outbox. */
  putBack(size: number): Promise<void>;
  /** Writes receipts to a file. @returns its path */
  writeExport(texts: readonly string[]): Promise<string>;
  restore(exports: readonly string[], options?: Partial<RestoreOptions>): Promise<RestoreResult>;
  /** Returns all receipts of the database, which hold. */
  readChain(): Promise<string[]>;
  close(): Promise<void>;
}

/** Seals so many receipts, waits for a checkpoint of them, and pauses. */
export async function openRestore(
  count: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<RestoreSetup> {
  const sealing = await startSealing(settings);
  await sealing.seal(count);
  const { size } = await getHead(sealing.app);
  while (((await getPublishedCheckpoint(sealing.app))?.size ?? 0) < size) await sleep(10);
  await sealing.pause();
  await sealing.forgetCommitted(); // else it would refill the database by itself
  const store = openStore(sealing.database.urls.sequencer, "sequencer");
  const readTexts = async () =>
    (await exportReceipts(sealing.app, { from: 0, to: 10_000 })).map(({ text }) => text);
  let files = 0;
  return {
    sealing,
    texts: await readTexts(),
    putBack: (size) =>
      sealing.database.executeAsSuperuser(`SET session_replication_role = replica;
        INSERT INTO seal_outbox (id, category, payload)
          SELECT id, category, (convert_from(record, 'UTF8')::jsonb - ARRAY['schema_version', 'chain_position', 'prev_hash'])::text
          FROM receipts WHERE position >= ${size};
        DELETE FROM seal_requests WHERE id IN (SELECT id FROM receipts WHERE position > ${size});
        DELETE FROM receipts WHERE position >= ${size};
        DELETE FROM log_tiles; DELETE FROM log_checkpoint;
        UPDATE ledger_head SET size = ${size},
          hash = (SELECT hash FROM receipts WHERE position = ${size - 1})`),
    async writeExport(texts) {
      const path = join(sealing.folder, `export-${files++}`);
      await writeFile(path, texts.map((text) => `${text}\n`).join(""));
      return path;
    },
    restore: (exports, options = {}) =>
      restoreLedger({
        store,
        keyFile: join(sealing.folder, "ledger.key"),
        log: readLogSettings(loadConfig({ SEALOOP_DATA: sealing.folder, ...settings })),
        exports,
        ...options,
      }),
    async readChain() {
      const texts = await readTexts();
      const { breaks } = await verifyChain(texts, await listLedgerKeys(sealing.app));
      if (breaks.length > 0) throw new Error(JSON.stringify(breaks));
      return texts;
    },
    async close() {
      await store.close();
      await sealing.stop();
    },
  };
}
