import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { importLedger } from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { mixedChain, vectorKeys } from "../_chains.ts";
import { prepareSealing, type TestSealing } from "../_ledger.ts";
import { asSuperuser, listBreaks, runScrub, scrubParts } from "./_scrub.ts";

describe("the scrub of an imported ledger", () => {
  let sealing: TestSealing;
  beforeEach(async () => {
    sealing = await prepareSealing();
  });
  afterEach(() => sealing.stop());

  const { records } = mixedChain;
  const scrub = () => runScrub(scrubParts(sealing));

  /** Imports an export, and seals its adoption and three receipts after it. */
  async function importText(text: string): Promise<void> {
    const path = join(sealing.folder, "export");
    await writeFile(path, text);
    const store = openStore(sealing.database.urls.sequencer, "sequencer");
    const keys = [vectorKeys[0]!.publicKey];
    await importLedger(store, path, { threads: 1, keys }).finally(() => store.close());
    sealing.go();
    await sealing.seal(3);
    await sealing.pause();
  }

  it("finds nothing in a valid one of several eras", async () => {
    await importText(records.join("\n"));
    const { breaks, verified } = await scrub();
    assert.deepEqual([breaks, verified], [0, records.length + 4]);
  });

  for (const column of ["record", "signature"]) {
    it(`reports another ${column} in the row of a receipt that keeps its imported text`, async () => {
      const spaced = records.map((record) => JSON.stringify(JSON.parse(record), null, 1));
      await importText(`[${spaced.join(",")}]`);
      assert.equal((await scrub()).breaks, 0);
      const { rowCount } = await asSuperuser(sealing, (client) =>
        client.query(
          `UPDATE receipts SET ${column} = set_byte(${column}, 1, 255 - get_byte(${column}, 1))
           WHERE position = 30 AND original IS NOT NULL`,
        ));
      assert.equal(rowCount, 1);
      assert.equal((await scrub()).breaks, 1);
      const [found] = await listBreaks(sealing);
      assert.deepEqual([found!.position, found!.failed_check], [30, "columns"]);
    });
  }
});
