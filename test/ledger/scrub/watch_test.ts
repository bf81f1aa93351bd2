import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { loadConfig } from "../../../config.ts";
import {
  beginScrub,
  type ChainState,
  type ChainWatch,
  endScrub,
  readLogSettings,
  scrubPart,
  type ScrubParts,
  watchChain,
  type WatchOptions,
} from "../../../ledger/mod.ts";
import { openArrivalVerifier, openSpanVerifier } from "../../../ledger/scrub/_span_thread.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { eventually } from "../../workflows/_story.ts";
import { serveLedger, startSealing, type TestSealing } from "../_ledger.ts";

const COUNT = 40;
const EDIT = "UPDATE receipts SET category = 'another' WHERE position = 5";
const MEND = "UPDATE receipts SET category = 'test' WHERE position = 5";
const CUT_OFF = `DELETE FROM receipts WHERE position >= 30; UPDATE ledger_head SET size = 30,
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
  async function scrub(): Promise<void> {
    const parts: ScrubParts = {
      store: sealing.app,
      log: readLogSettings(loadConfig({ SEALOOP_DATA: sealing.folder })),
      onBreak: () => {},
      onError: () => {},
    };
    let at = await beginScrub(parts, null);
    while (at.place.position < at.size) at = await scrubPart(parts, at);
    await endScrub(parts, at);
  }
  async function asSuperuser(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: sealing.database.superuserUrl });
    await client.connect();
    await client.query(`SET session_replication_role = replica; ${sql}`).finally(() =>
      client.end()
    );
  }
  const until = (opened: ChainWatch, is: (state: ChainState) => boolean) =>
    eventually(async () => is(opened.state()) ? opened.state() : undefined);
  const positions = ({ first_breaks }: ChainState) => first_breaks.map(({ position }) => position);

  it("says null until it knows, and then goes with the receipts as they come", async () => {
    const opened = await watch();
    assert.equal(opened.state().chain_intact, null);
    const { chain_intact, verified_through } = await opened.catchUp();
    assert.deepEqual([chain_intact, verified_through], [true, COUNT - 1]);
    await sealing.seal(5);
    await until(opened, (state) => state.verified_through === COUNT + 4);
    assert.equal(opened.state().chain_intact, true);
  });

  it("takes over what the scrub has verified, and tells what it finds in that as soon as it does", async () => {
    await scrub();
    await asSuperuser(EDIT);
    const opened = await watch();
    const before = await opened.catchUp();
    assert.deepEqual([before.chain_intact, before.scrub?.pass], [true, 1]); // it was not looked at again
    await scrub();
    const { chain_intact, breaks, first_breaks } = await until(opened, (s) => s.breaks > 0);
    assert.deepEqual([chain_intact, breaks, first_breaks[0]?.position], [false, 1, 5]);
    assert.ok(opened.isBroken(5) && !opened.isBroken(6));
  });

  it("counts once what both have found", async () => {
    await asSuperuser(EDIT);
    const opened = await watch();
    assert.equal((await opened.catchUp()).breaks, 1);
    await scrub();
    await until(opened, ({ scrub }) => scrub?.finished_at != null);
    assert.equal((await opened.catchUp()).breaks, 1);
  });

  it("goes on saying that it is broken when somebody removes what the scrub wrote", async () => {
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
    assert.equal((await opened.catchUp()).chain_intact, false, "healed, it says, and is not");
  });

  it("says that it is whole again when it was mended and a pass has found so", async () => {
    await asSuperuser(EDIT);
    const opened = await watch();
    await opened.catchUp(); // so that it has found it by itself
    await scrub();
    await until(opened, ({ breaks }) => breaks === 1);
    await asSuperuser(MEND);
    await scrub();
    await until(opened, (state) => state.chain_intact === true);
  });

  it("notices at once that an end is cut off which it has seen, and remembers it", async () => {
    const opened = await watch();
    await opened.catchUp();
    await sealing.pause();
    await asSuperuser(CUT_OFF);
    const cut = await opened.catchUp();
    assert.deepEqual([cut.chain_intact, positions(cut)], [false, [30]]);
    assert.match(cut.first_breaks[0]!.reason, /Missing, with all after it: there were 40 receipts/);
    sealing.go();
    await sealing.seal(20);
    const grown = await until(opened, ({ verified_through }) => verified_through === 49);
    assert.deepEqual([grown.chain_intact, positions(grown)], [false, [40]]);
  });

  it("does not begin where the scrub is said to have ended when another receipt is there", async () => {
    await scrub();
    await asSuperuser("UPDATE ledger_scrub SET verified_hash = sha256('x')");
    const { chain_intact, verified_through } = await (await watch()).catchUp();
    assert.deepEqual([chain_intact, verified_through], [false, COUNT - 1]);
  });

  it("notices that the head is another", async () => {
    const opened = await watch();
    await opened.catchUp();
    await asSuperuser("UPDATE ledger_head SET hash = sha256('x')");
    assert.equal((await opened.catchUp()).chain_intact, false);
  });

  it("is not held up by a head that says too much", async () => {
    const opened = await watch();
    await opened.catchUp();
    await asSuperuser("UPDATE ledger_head SET size = 9000000000000");
    const { chain_intact, first_breaks: [first] } = await opened.catchUp();
    assert.deepEqual([chain_intact, first?.position], [false, COUNT]);
    assert.match(first!.reason, /^Missing, with all up to 8999999999999$/);
  });

  it("finds by itself, where it is to look again, what the scrub is kept from telling", async () => {
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

  it("finds by itself, where it is to look again, that the newest receipt is gone", async () => {
    const opened = await watch({ recheckEveryMs: 50 });
    await opened.catchUp();
    await sealing.pause();
    await asSuperuser("DELETE FROM receipts WHERE position = 39");
    assert.deepEqual(positions(await until(opened, ({ breaks }) => breaks > 0)), [39]);
  });

  describe("when asked", () => {
    it("verifies nothing before, and then all that is there", async () => {
      const [asked, other] = [await watch({ onDemand: true }), await watch()];
      await sealing.seal(5);
      await until(other, (state) => state.verified_through === COUNT + 4);
      const { chain_intact, verified_through } = asked.state();
      assert.deepEqual([chain_intact, verified_through], [null, -1]);
      const now = await asked.catchUp();
      assert.deepEqual([now.chain_intact, now.verified_through], [true, COUNT + 4]);
    });

    it("goes on from where the scrub has ended since", async () => {
      const opened = await watch({ onDemand: true });
      await opened.catchUp();
      await sealing.seal(10);
      await scrub();
      await asSuperuser(EDIT.replace("5", "45"));
      const { chain_intact, verified_through } = await opened.catchUp();
      assert.deepEqual([chain_intact, verified_through], [true, COUNT + 9], "45 is not looked at");
      await scrub();
      assert.deepEqual(positions(await opened.catchUp()), [45]);
    });

    it("notices that what it had verified ends as something else by then", async () => {
      const opened = await watch({ onDemand: true });
      await opened.catchUp();
      await sealing.seal(10);
      await scrub();
      await asSuperuser("UPDATE receipts SET hash = sha256('other') WHERE position = 39");
      const { chain_intact, first_breaks } = await opened.catchUp();
      assert.deepEqual([chain_intact, first_breaks[0]?.position], [false, 39]);
    });
  });

  describe("with a mark outside of the database", () => {
    let markFile: string;
    const troubles: string[] = [];
    const options = (more: WatchOptions = {}): WatchOptions => ({
      markFile,
      onError: (error) => troubles.push(String(error)),
      ...more,
    });
    beforeEach(async () => {
      markFile = join(sealing.folder, "verified.json");
      troubles.length = 0;
      await (await watch(options())).catchUp();
      await watches.pop()!.close();
    });

    it("begins where it had ended, and not at what the scrub is said to have verified", async () => {
      await sealing.pause();
      await asSuperuser(
        `${EDIT}; INSERT INTO ledger_scrub (pass, size, verified_through, verified_hash)
        VALUES (1, 10, 9, (SELECT hash FROM receipts WHERE position = 9))`,
      );
      const opened = await watch(options());
      const { chain_intact, verified_through } = await opened.catchUp();
      assert.deepEqual([chain_intact, verified_through], [true, COUNT - 1]); // as while it was running
      assert.deepEqual(troubles, []);
    });

    it("verifies all again at each start once something did not hold", async () => {
      await asSuperuser(EDIT);
      const opened = await watch(options({ recheckEveryMs: 50 }));
      await until(opened, ({ breaks }) => breaks === 1);
      await watches.pop()!.close();
      const { chain_intact, first_breaks } = await (await watch(options())).catchUp();
      assert.deepEqual([chain_intact, first_breaks[0]?.position], [false, 5]);
      await watches.pop()!.close();
      await asSuperuser(MEND);
      assert.equal((await (await watch(options())).catchUp()).chain_intact, true);
      await watches.pop()!.close();
      await asSuperuser(EDIT);
      assert.equal(
        (await (await watch(options())).catchUp()).chain_intact,
        true,
        "it goes by the mark",
      );
    });

    it("knows that an end was cut off while it was away", async () => {
      await sealing.pause();
      await asSuperuser(CUT_OFF);
      for (let start = 1; start <= 2; start++) {
        const state = await (await watch(options())).catchUp();
        assert.deepEqual([state.chain_intact, positions(state)], [false, [30]]);
        await watches.pop()!.close();
      }
    });

    it("knows that another key was published while it was away", async () => {
      await asSuperuser("UPDATE ledger_keys SET public_key = sha256('x')");
      const { first_breaks: [first] } = await (await watch(options())).catchUp();
      assert.equal(first?.position, 0);
    });

    it("verifies all where the mark is none, and says so", async () => {
      await writeFile(markFile, "{}");
      await asSuperuser(EDIT);
      assert.equal((await (await watch(options())).catchUp()).chain_intact, false);
      assert.match(troubles.join(), /verified\.json is none that the ledger wrote/);
    });
  });

  it("verifies long spans on a thread, which finds the same", async () => {
    await asSuperuser(EDIT);
    const { signal } = new AbortController();
    const order = { from: { position: 0, previousHash: "" }, to: COUNT, share: 1 };
    const thread = openSpanVerifier(ledger, Infinity, signal);
    try {
      const span = await thread.verify(order);
      assert.deepEqual(span, await openSpanVerifier(ledger, COUNT, signal).verify(order));
      assert.deepEqual([span.place.position, span.breaks.length], [COUNT, 1]);
    } finally {
      await thread.close();
    }
    const away = openSpanVerifier(
      { ...ledger, url: ledger.url.replace(/\/test_/, "/none_") },
      Infinity,
      signal,
    );
    await assert.rejects(away.verify(order), /does not exist/);
    await away.close();
  });

  it("verifies what comes on a thread for as long as much comes, and says the same of it", async () => {
    const { signal } = new AbortController();
    const verifier = openArrivalVerifier(ledger, signal, 300);
    try {
      const order = { from: { position: 0, previousHash: "" }, to: COUNT, share: 1 };
      const first = await verifier.verify(order);
      assert.equal(verifier.threaded, false, `${COUNT} at a time are not much`);
      for (let times = 0; times <= 500 / COUNT; times++) {
        assert.deepEqual(await verifier.verify(order), first);
      }
      assert.equal(verifier.threaded, true);
      await eventually(() => Promise.resolve(verifier.threaded ? undefined : true));
      assert.deepEqual(await verifier.verify(order), first);
    } finally {
      await verifier.close();
    }
    assert.equal(verifier.threaded, false);
    const away = { ...ledger, url: ledger.url.replace(/\/test_/, "/none_") };
    const failing = openArrivalVerifier(away, signal);
    const much = { from: { position: 0, previousHash: "" }, to: 501, share: 1 };
    await assert.rejects(failing.verify(much), /does not exist/);
    assert.equal(failing.threaded, false, "the next time starts another thread");
    await failing.close();
  });

  it("lets the public ledger say so everywhere", async () => {
    await sealing.pause(); // or the break's own receipt would come meanwhile
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
    assert.deepEqual([chain.chain_intact, stats.chain_intact, health.chain_intact], [
      ...[false, false, false],
    ]);
    assert.deepEqual([chain.first_breaks[0].position, chain.scrub.pass, health.status], [
      ...[5, 1, "broken"],
    ]);
    const unverified = receipts.filter(({ verified }: { verified: boolean }) => !verified);
    assert.deepEqual(
      unverified.map(({ chain_position }: { chain_position: number }) => chain_position),
      [5],
    );
  });
});
