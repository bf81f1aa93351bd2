import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../_time.ts";
import { serveLedger } from "../_ledger.ts";
import { COUNT, EDIT, positionsOf, TRUNCATE, UNDO, useWatch, waitForState } from "./_watch.ts";

describe("watchChain()", () => {
  const setup = useWatch();

  it("reports null until it knows, and then verifies receipts as they are sealed", async () => {
    const opened = await setup.watch();
    assert.equal(opened.state().chain_intact, null);
    const { chain_intact, verified_through } = await opened.catchUp();
    assert.deepEqual([chain_intact, verified_through], [true, COUNT - 1]);
    await setup.sealing.seal(5);
    await waitForState(opened, (state) => state.verified_through === COUNT + 4);
    assert.equal(opened.state().chain_intact, true);
  });

  it("continues after the scrub's verified part, and reports the breaks that the scrub finds", async () => {
    await setup.scrub();
    await setup.tamper(EDIT);
    const opened = await setup.watch();
    const before = await opened.catchUp();
    assert.deepEqual([before.chain_intact, before.scrub?.pass], [true, 1]); // the edited receipt was not verified again
    await setup.scrub();
    const { chain_intact, breaks, first_breaks } = await waitForState(opened, (s) => s.breaks > 0);
    assert.deepEqual([chain_intact, breaks, first_breaks[0]?.position], [false, 1, 5]);
    assert.ok(opened.isBroken(5) && !opened.isBroken(6));
  });

  it("counts a break once that both scrub and process have found", async () => {
    await setup.tamper(EDIT);
    const opened = await setup.watch();
    assert.equal((await opened.catchUp()).breaks, 1);
    await setup.scrub();
    await waitForState(opened, ({ scrub }) => scrub?.finished_at != null);
    assert.equal((await opened.catchUp()).breaks, 1);
  });

  it("still reports a break after its row was removed or marked as healed", async () => {
    await setup.tamper(EDIT);
    await setup.scrub();
    const opened = await setup.watch();
    assert.equal((await opened.catchUp()).chain_intact, false);
    await setup.tamper("DELETE FROM ledger_breaks; NOTIFY sealoop_scrub");
    await sleep(200);
    assert.equal((await opened.catchUp()).chain_intact, false);
    await setup.tamper(
      "INSERT INTO ledger_breaks VALUES (5, 'columns', '', '', now(), 1, now()); NOTIFY sealoop_scrub",
    );
    await sleep(200);
    assert.equal(
      (await opened.catchUp()).chain_intact,
      false,
      "the row says healed, but the receipt does not hold",
    );
  });

  it("reports an intact chain after a break was undone and a pass has confirmed it", async () => {
    await setup.tamper(EDIT);
    const opened = await setup.watch();
    await opened.catchUp(); // finds the break itself
    await setup.scrub();
    await waitForState(opened, ({ breaks }) => breaks === 1);
    await setup.tamper(UNDO);
    await setup.scrub();
    await waitForState(opened, (state) => state.chain_intact === true);
  });

  it("reports a truncated end that it has verified, and remembers it", async () => {
    const opened = await setup.watch();
    await opened.catchUp();
    await setup.sealing.pause();
    await setup.tamper(TRUNCATE);
    const cut = await opened.catchUp();
    assert.deepEqual([cut.chain_intact, positionsOf(cut)], [false, [30]]);
    assert.match(cut.first_breaks[0]!.reason, /Missing, with all after it: there were 40 receipts/);
    await setup.sealing.forgetSigned();
    setup.sealing.go();
    await setup.sealing.seal(20);
    const grown = await waitForState(opened, ({ verified_through }) => verified_through === 49);
    assert.deepEqual([grown.chain_intact, positionsOf(grown)], [false, [40]]);
  });

  it("does not continue after the scrub's part if that ends with another receipt", async () => {
    await setup.scrub();
    await setup.tamper("UPDATE ledger_scrub SET verified_hash = sha256('x')");
    const { chain_intact, verified_through } = await (await setup.watch()).catchUp();
    assert.deepEqual([chain_intact, verified_through], [false, COUNT - 1]);
  });

  it("reports a changed head", async () => {
    const opened = await setup.watch();
    await opened.catchUp();
    await setup.tamper("UPDATE ledger_head SET hash = sha256('x')");
    assert.equal((await opened.catchUp()).chain_intact, false);
  });

  it("copes with a head that is far too large", async () => {
    const opened = await setup.watch();
    await opened.catchUp();
    await setup.tamper("UPDATE ledger_head SET size = 9000000000000");
    const { chain_intact, first_breaks: [first] } = await opened.catchUp();
    assert.deepEqual([chain_intact, first?.position], [false, COUNT]);
    assert.match(first!.reason, /^Missing, with all up to 8999999999999$/);
  });

  it("finds by its own recheck what the scrub is prevented from storing", async () => {
    await setup.scrub();
    await setup.tamper(
      `CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER swallow BEFORE INSERT OR UPDATE ON ledger_breaks FOR EACH ROW EXECUTE FUNCTION swallow();
      ${EDIT}`,
    );
    assert.equal((await (await setup.watch()).catchUp()).chain_intact, true);
    const opened = await setup.watch({ recheckEveryMs: 50 });
    const { first_breaks } = await waitForState(opened, (state) => state.chain_intact === false);
    assert.deepEqual(first_breaks.map(({ position }) => position), [5]);
    await setup.scrub();
    assert.equal((await opened.catchUp()).chain_intact, false);
  });

  it("finds by its own recheck that the newest receipt was removed", async () => {
    const opened = await setup.watch({ recheckEveryMs: 50 });
    await opened.catchUp();
    await setup.sealing.pause();
    await setup.tamper("DELETE FROM receipts WHERE position = 39");
    assert.deepEqual(positionsOf(await waitForState(opened, ({ breaks }) => breaks > 0)), [39]);
  });

  it("continues after its connections were lost", async () => {
    const opened = await setup.watch();
    await opened.catchUp();
    await setup.tamper(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'sealoop-ledger' AND datname = current_database()`,
    );
    await setup.sealing.seal(5);
    await waitForState(opened, (state) => state.verified_through === COUNT + 4);
    assert.equal((await opened.catchUp()).chain_intact, true);
  });

  it("makes the public ledger report a break everywhere", async () => {
    await setup.sealing.pause(); // or the receipt of the break would be sealed meanwhile
    await setup.tamper(EDIT);
    await setup.scrub();
    const server = await serveLedger(setup.sealing.database);
    try {
      // deno-lint-ignore no-explicit-any -- any JSON
      const get = async (path: string): Promise<any> =>
        await (await fetch(new URL(path, server.address))).json();
      await eventually(async () => {
        const { verified_through } = await get("/api/chain");
        return verified_through === COUNT - 1 ? true : undefined;
      });
      const [chain, stats, health, { receipts }] = await Promise.all(
        ["chain", "stats", "health", "receipts?limit=200"].map((path) => get(`/api/${path}`)),
      );
      for (const answer of [chain, stats, health]) assert.equal(answer.chain_intact, false);
      assert.deepEqual([chain.first_breaks[0].position, chain.scrub.pass], [5, 1]);
      assert.equal(health.status, "broken");
      const unverified = receipts.filter(({ verified }: { verified: boolean }) => !verified);
      assert.deepEqual(
        unverified.map(({ chain_position }: { chain_position: number }) => chain_position),
        [5],
      );
    } finally {
      await server.stop();
    }
  });
});
