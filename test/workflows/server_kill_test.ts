/** Whole servers are killed here, which other tests of a run share; so this platform is of its own, and restarts them. */
import assert from "node:assert/strict";
import { STEPS } from "../../contract/domain/mod.ts";
import { exportReceipts, listLedgerKeys, verifyChain } from "../../ledger/mod.ts";
import { listTicketEvents } from "../../store/incidents/mod.ts";
import { type CompiledPlatform, startCompiledPlatform } from "./_compiled.ts";
import { type Holds, openHolds } from "./_holds.ts";
import { killDuringLoops, type LoopEnd } from "./_kill_round.ts";

describe("a server that is killed with -9 while loops are in each step", () => {
  let platform: CompiledPlatform;
  let holds: Holds;

  before(async () => {
    platform = await startCompiledPlatform(() => {});
    holds = await openHolds(platform.superuserUrl);
  });
  after(async () => {
    await holds?.close();
    await platform?.close();
  });

  for (const target of ["Temporal", "PostgreSQL"] as const) {
    describe(`such as ${target}`, () => {
      let ends: LoopEnd[];
      before(async () => {
        ends = await killDuringLoops(platform, holds, target, 0);
      });

      for (const [n, step] of STEPS.entries()) {
        it(`${step}: the loop ends sealed, the service was restarted once`, async () => {
          const { result, repairs, faults } = ends[n]!;
          assert.deepEqual(faults, []);
          const events = result?.ticket_id &&
            (await listTicketEvents(platform.store.asPlatform(), result.ticket_id));
          assert.equal(result?.outcome, "sealed", JSON.stringify([result, events]));
          assert.equal(repairs, 1);
        });
      }

      it("leaves an unbroken chain", async () => {
        const all = (await exportReceipts(platform.store, { from: 0, to: 10_000 }))
          .map(({ text }) => text);
        const { breaks } = await verifyChain(all, await listLedgerKeys(platform.store));
        assert.deepEqual(breaks, []);
      });
    });
  }
});
