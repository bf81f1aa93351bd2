import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ChainState,
  type ChainWatch,
  watchChain,
  type WatchOptions,
} from "../../../ledger/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { eventually } from "../../_time.ts";
import { serveLedger, startSealing, type TestSealing } from "../_ledger.ts";
import { runScrub, scrubParts, tamper } from "./_scrub.ts";

const COUNT = 40;
const EDIT = "UPDATE receipts SET category = 'another' WHERE position = 5";
const UNDO = "UPDATE receipts SET category = 'test' WHERE position = 5";
const TRUNCATE = `DELETE FROM receipts WHERE position >= 30; UPDATE ledger_head SET size = 30,
  hash = (SELECT hash FROM receipts WHERE position = 29)`;

describe("watchChain()", () => {
  let sealing: TestSealing;
  let ledger: Store;
  const watches: ChainWatch[] = [];
  let server: Awaited<ReturnType<typeof serveLedger>> | undefined;
  beforeEach(async () => {
    sealing = await startSealing();
    ledger = openStore(sealing.database.urls.ledger, "ledger");
    await sealing.seal(COUNT);
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
    for (const watch of watches.splice(0)) await watch.close();
    await ledger.close();
    await sealing.stop();
  });

  async function watch(options?: WatchOptions): Promise<ChainWatch> {
    const opened = await watchChain(ledger, options);
    watches.push(opened);
    return opened;
  }
  const scrub = () => runScrub(scrubParts(sealing));
  const asSuperuser = (sql: string) => tamper(sealing, sql);
  const until = (opened: ChainWatch, is: (state: ChainState) => boolean) =>
    eventually(async () => is(opened.state()) ? opened.state() : undefined);
  const positions = ({ first_breaks }: ChainState) => first_breaks.map(({ position }) => position);

  it("reports null until it knows, and then verifies receipts as they are sealed", async () => {
    const opened = await watch();
    assert.equal(opened.state().chain_intact, null);
    const { chain_intact, verified_through } = await opened.catchUp();
    assert.deepEqual([chain_intact, verified_through], [true, COUNT - 1]);
    await sealing.seal(5);
    await until(opened, (state) => state.verified_through === COUNT + 4);
    assert.equal(opened.state().chain_intact, true);
  });

  it("continues after the scrub's verified part, and reports the breaks that the scrub finds", async () => {
    await scrub();
    await asSuperuser(EDIT);
    const opened = await watch();
    const before = await opened.catchUp();
    assert.deepEqual([before.chain_intact, before.scrub?.pass], [true, 1]); // the edited receipt was not verified again
    await scrub();
    const { chain_intact, breaks, first_breaks } = await until(opened, (s) => s.breaks > 0);
    assert.deepEqual([chain_intact, breaks, first_breaks[0]?.position], [false, 1, 5]);
    assert.ok(opened.isBroken(5) && !opened.isBroken(6));
  });

  it("counts a break once that both scrub and process have found", async () => {
    await asSuperuser(EDIT);
    const opened = await watch();
    assert.equal((await opened.catchUp()).breaks, 1);
    await scrub();
    await until(opened, ({ scrub }) => scrub?.finished_at != null);
    assert.equal((await opened.catchUp()).breaks, 1);
  });

  it("still reports a break after its row was removed or marked as healed", async () => {
    await asSuperuser(EDIT);
    await scrub();
    const opened = await watch();
    assert.equal((await opened.catchUp()).chain_intact, false);
    await asSuperuser("DELETE FROM ledger_breaks; NOTIFY sealoop_scrub");
    await sleep(200);
    assert.equal((await opened.catchUp()).chain_intact, false);
    await asSuperuser(
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
    await asSuperuser(EDIT);
    const opened = await watch();
    await opened.catchUp(); // finds the break itself
    await scrub();
    await until(opened, ({ breaks }) => breaks === 1);
    await asSuperuser(UNDO);
    await scrub();
    await until(opened, (state) => state.chain_intact === true);
  });

  it("reports a truncated end that it has verified, and remembers it", async () => {
    const opened = await watch();
    await opened.catchUp();
    await sealing.pause();
    await asSuperuser(TRUNCATE);
    const cut = await opened.catchUp();
    assert.deepEqual([cut.chain_intact, positions(cut)], [false, [30]]);
    assert.match(cut.first_breaks[0]!.reason, /Missing, with all after it: there were 40 receipts/);
    sealing.go();
    await sealing.seal(20);
    const grown = await until(opened, ({ verified_through }) => verified_through === 49);
    assert.deepEqual([grown.chain_intact, positions(grown)], [false, [40]]);
  });

  it("does not continue after the scrub's part if that ends with another receipt", async () => {
    await scrub();
    await asSuperuser("UPDATE ledger_scrub SET verified_hash = sha256('x')");
    const { chain_intact, verified_through } = await (await watch()).catchUp();
    assert.deepEqual([chain_intact, verified_through], [false, COUNT - 1]);
  });

  it("reports a changed head", async () => {
    const opened = await watch();
    await opened.catchUp();
    await asSuperuser("UPDATE ledger_head SET hash = sha256('x')");
    assert.equal((await opened.catchUp()).chain_intact, false);
  });

  it("copes with a head that is far too large", async () => {
    const opened = await watch();
    await opened.catchUp();
    await asSuperuser("UPDATE ledger_head SET size = 9000000000000");
    const { chain_intact, first_breaks: [first] } = await opened.catchUp();
    assert.deepEqual([chain_intact, first?.position], [false, COUNT]);
    assert.match(first!.reason, /^Missing, with all up to 8999999999999$/);
  });

  it("finds by its own recheck what the scrub is prevented from storing", async () => {
    await scrub();
    await asSuperuser(
      `CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER swallow BEFORE INSERT OR UPDATE ON ledger_breaks FOR EACH ROW EXECUTE FUNCTION swallow();
      ${EDIT}`,
    );
    assert.equal((await (await watch()).catchUp()).chain_intact, true);
    const opened = await watch({ recheckEveryMs: 50 });
    const { first_breaks } = await until(opened, (state) => state.chain_intact === false);
    assert.deepEqual(first_breaks.map(({ position }) => position), [5]);
    await scrub();
    assert.equal((await opened.catchUp()).chain_intact, false);
  });

  it("finds by its own recheck that the newest receipt was removed", async () => {
    const opened = await watch({ recheckEveryMs: 50 });
    await opened.catchUp();
    await sealing.pause();
    await asSuperuser("DELETE FROM receipts WHERE position = 39");
    assert.deepEqual(positions(await until(opened, ({ breaks }) => breaks > 0)), [39]);
  });

  describe("on demand", () => {
    it("verifies nothing until asked, and then everything", async () => {
      const [asked, other] = [await watch({ onDemand: true }), await watch()];
      await sealing.seal(5);
      await until(other, (state) => state.verified_through === COUNT + 4);
      const { chain_intact, verified_through } = asked.state();
      assert.deepEqual([chain_intact, verified_through], [null, -1]);
      const now = await asked.catchUp();
      assert.deepEqual([now.chain_intact, now.verified_through], [true, COUNT + 4]);
    });

    it("continues after what the scrub has verified since", async () => {
      const opened = await watch({ onDemand: true });
      await opened.catchUp();
      await sealing.seal(10);
      await scrub();
      await asSuperuser(EDIT.replace("5", "45"));
      const { chain_intact, verified_through } = await opened.catchUp();
      assert.deepEqual(
        [chain_intact, verified_through],
        [true, COUNT + 9],
        "the edited receipt is not verified again",
      );
      await scrub();
      assert.deepEqual(positions(await opened.catchUp()), [45]);
    });

    it("reports that its verified part ends with another receipt", async () => {
      const opened = await watch({ onDemand: true });
      await opened.catchUp();
      await sealing.seal(10);
      await scrub();
      await asSuperuser("UPDATE receipts SET hash = sha256('other') WHERE position = 39");
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
      markFile = join(sealing.folder, "verified.json");
      errors.length = 0;
      await (await watch(options())).catchUp();
      await watches.pop()!.close();
    });

    it("continues at the mark, not after the scrub's part", async () => {
      await sealing.pause();
      await asSuperuser(
        `${EDIT}; INSERT INTO ledger_scrub (pass, size, verified_through, verified_hash)
        VALUES (1, 10, 9, (SELECT hash FROM receipts WHERE position = 9))`,
      );
      const opened = await watch(options());
      const { chain_intact, verified_through } = await opened.catchUp();
      assert.deepEqual([chain_intact, verified_through], [true, COUNT - 1]); // as before its restart
      assert.deepEqual(errors, []);
    });

    it("verifies everything at each start after it has found a break", async () => {
      await asSuperuser(EDIT);
      const opened = await watch(options({ recheckEveryMs: 50 }));
      await until(opened, ({ breaks }) => breaks === 1);
      await watches.pop()!.close();
      const { chain_intact, first_breaks } = await (await watch(options())).catchUp();
      assert.deepEqual([chain_intact, first_breaks[0]?.position], [false, 5]);
      await watches.pop()!.close();
      await asSuperuser(UNDO);
      assert.equal((await (await watch(options())).catchUp()).chain_intact, true);
      await watches.pop()!.close();
      await asSuperuser(EDIT);
      assert.equal(
        (await (await watch(options())).catchUp()).chain_intact,
        true,
        "it continues at the mark again",
      );
    });

    it("reports an end that was truncated while it was stopped", async () => {
      await sealing.pause();
      await asSuperuser(TRUNCATE);
      for (let start = 1; start <= 2; start++) {
        const state = await (await watch(options())).catchUp();
        assert.deepEqual([state.chain_intact, positions(state)], [false, [30]]);
        await watches.pop()!.close();
      }
    });

    it("reports a key that was replaced while it was stopped", async () => {
      await asSuperuser("UPDATE ledger_keys SET public_key = sha256('x')");
      const { first_breaks: [first] } = await (await watch(options())).catchUp();
      assert.equal(first?.position, 0);
    });

    it("verifies everything if the mark cannot be read, and reports that", async () => {
      await writeFile(markFile, "{}");
      await asSuperuser(EDIT);
      assert.equal((await (await watch(options())).catchUp()).chain_intact, false);
      assert.match(errors.join(), /verified\.json: it is not a mark that the ledger wrote/);
    });
  });

  it("continues after its connections were lost", async () => {
    const opened = await watch();
    await opened.catchUp();
    await asSuperuser(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'sealoop-ledger' AND datname = current_database()`,
    );
    await sealing.seal(5);
    await until(opened, (state) => state.verified_through === COUNT + 4);
    assert.equal((await opened.catchUp()).chain_intact, true);
  });

  it("makes the public ledger report a break everywhere", async () => {
    await sealing.pause(); // or the receipt of the break would be sealed meanwhile
    await asSuperuser(EDIT);
    await scrub();
    server = await serveLedger(sealing.database);
    const { address } = server;
    // deno-lint-ignore no-explicit-any -- JSON of whatever shape
    const get = async (path: string): Promise<any> =>
      await (await fetch(new URL(path, address))).json();
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
  });
});
