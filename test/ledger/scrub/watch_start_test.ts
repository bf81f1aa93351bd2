import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WatchOptions } from "../../../ledger/mod.ts";
import { COUNT, EDIT, positionsOf, TRUNCATE, UNDO, useWatch, waitForState } from "./_watch.ts";

describe("watchChain()", () => {
  const setup = useWatch();

  describe("on demand", () => {
    it("verifies nothing until asked, and then everything", async () => {
      const [asked, other] = [await setup.watch({ onDemand: true }), await setup.watch()];
      await setup.sealing.seal(5);
      await waitForState(other, (state) => state.verified_through === COUNT + 4);
      const { chain_intact, verified_through } = asked.state();
      assert.deepEqual([chain_intact, verified_through], [null, -1]);
      const now = await asked.catchUp();
      assert.deepEqual([now.chain_intact, now.verified_through], [true, COUNT + 4]);
    });

    it("looks at what the scrub has verified and found, and verifies no more", async () => {
      const opened = await setup.watch({ onDemand: true });
      await setup.scrub();
      await setup.sealing.seal(5);
      const before = await opened.look();
      assert.deepEqual([before.chain_intact, before.verified_through, before.total], [
        true,
        COUNT - 1,
        COUNT + 5,
      ]);
      await setup.tamper(EDIT);
      assert.equal((await opened.look()).chain_intact, true);
      await setup.scrub();
      assert.equal((await opened.look()).chain_intact, false);
    });

    it("continues after what the scrub has verified since", async () => {
      const opened = await setup.watch({ onDemand: true });
      await opened.catchUp();
      await setup.sealing.seal(10);
      await setup.scrub();
      await setup.tamper(EDIT.replace("5", "45"));
      const { chain_intact, verified_through } = await opened.catchUp();
      assert.deepEqual(
        [chain_intact, verified_through],
        [true, COUNT + 9],
        "the edited receipt is not verified again",
      );
      await setup.scrub();
      assert.deepEqual(positionsOf(await opened.catchUp()), [45]);
    });

    it("reports that its verified part ends with another receipt", async () => {
      const opened = await setup.watch({ onDemand: true });
      await opened.catchUp();
      await setup.sealing.seal(10);
      await setup.scrub();
      await setup.tamper("UPDATE receipts SET hash = sha256('other') WHERE position = 39");
      const { chain_intact, first_breaks } = await opened.catchUp();
      assert.deepEqual([chain_intact, first_breaks[0]?.position], [false, 39]);
    });
  });

  describe("with a mark file", () => {
    let markFile: string;
    const errors: string[] = [];
    const options = (more: WatchOptions = {}): WatchOptions => ({
      markFile,
      onError: (error) => errors.push(String(error)),
      ...more,
    });
    beforeEach(async () => {
      markFile = join(setup.sealing.folder, "verified.json");
      errors.length = 0;
      await (await setup.watch(options())).catchUp();
      await setup.closeWatch();
    });

    it("continues at the mark, not after the scrub's part", async () => {
      await setup.sealing.pause();
      await setup.tamper(
        `${EDIT}; INSERT INTO ledger_scrub (pass, size, verified_through, verified_hash)
        VALUES (1, 10, 9, (SELECT hash FROM receipts WHERE position = 9))`,
      );
      const opened = await setup.watch(options());
      const { chain_intact, verified_through } = await opened.catchUp();
      assert.deepEqual([chain_intact, verified_through], [true, COUNT - 1]); // as before its restart
      assert.deepEqual(errors, []);
    });

    it("verifies everything at each start after it has found a break", async () => {
      await setup.tamper(EDIT);
      const opened = await setup.watch(options({ recheckEveryMs: 50 }));
      await waitForState(opened, ({ breaks }) => breaks === 1);
      await setup.closeWatch();
      const { chain_intact, first_breaks } = await (await setup.watch(options())).catchUp();
      assert.deepEqual([chain_intact, first_breaks[0]?.position], [false, 5]);
      await setup.closeWatch();
      await setup.tamper(UNDO);
      assert.equal((await (await setup.watch(options())).catchUp()).chain_intact, true);
      await setup.closeWatch();
      await setup.tamper(EDIT);
      assert.equal(
        (await (await setup.watch(options())).catchUp()).chain_intact,
        true,
        "it continues at the mark again",
      );
    });

    it("reports an end that was truncated while it was stopped", async () => {
      await setup.sealing.pause();
      await setup.tamper(TRUNCATE);
      for (let start = 1; start <= 2; start++) {
        const state = await (await setup.watch(options())).catchUp();
        assert.deepEqual([state.chain_intact, positionsOf(state)], [false, [30]]);
        await setup.closeWatch();
      }
    });

    it("reports a key that was replaced while it was stopped", async () => {
      await setup.tamper("UPDATE ledger_keys SET public_key = sha256('x')");
      const { first_breaks: [first] } = await (await setup.watch(options())).catchUp();
      assert.equal(first?.position, 0);
    });

    it("verifies everything if the mark cannot be read, and reports that", async () => {
      await writeFile(markFile, "{}");
      await setup.tamper(EDIT);
      assert.equal((await (await setup.watch(options())).catchUp()).chain_intact, false);
      assert.match(errors.join(), /verified\.json: it is not a mark that the ledger wrote/);
    });
  });
});
