import assert from "node:assert/strict";
import { loadConfig } from "../../../config.ts";
import {
  getPublishedCheckpoint,
  getPublishingState,
  isSignedBy,
  parseVerifierKey,
  readLogSettings,
} from "../../../ledger/log/mod.ts";
import { parseCheckpoint, parseNote } from "../../../ledger/notes/mod.ts";
import { getHead } from "../../../ledger/receipts/mod.ts";
import { eventually } from "../../_time.ts";
import { serveLedger, startSealing, type TestSealing } from "../_ledger.ts";
import { LIES, openWitness, type TestWitness } from "./_witness.ts";

type Json = Readonly<Record<string, unknown>>;

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

describe("witnesses of the Merkle log", () => {
  let witnesses: TestWitness[];
  let sealing: TestSealing | undefined;
  beforeEach(async () => {
    witnesses = await Promise.all(
      [1, 2, 3].map((n) => openWitness(`witness.example/w${n}`)),
    );
  });
  afterEach(async () => {
    await sealing?.stop();
    sealing = undefined;
    await Promise.all(witnesses.map((witness) => witness.stop()));
  });

  async function start(quorum: number, list = witnesses): Promise<TestSealing> {
    return sealing = await startSealing({
      SEALOOP_WITNESSES: list.map(({ setting }) => setting).join(","),
      SEALOOP_WITNESS_QUORUM: String(quorum),
    });
  }
  async function published() {
    const checkpoint = await getPublishedCheckpoint(sealing!.app);
    if (!checkpoint) return { size: 0, cosigners: [] };
    const note = parseNote(checkpoint.note);
    const cosigners = witnesses.filter(({ key }) => isSignedBy(note, key)).map(({ key }) =>
      key.name
    );
    return { size: parseCheckpoint(note.text).size, cosigners };
  }
  /** Seals receipts, and waits until a checkpoint of all is published. */
  async function sealAndPublish(count: number) {
    await sealing!.seal(count);
    const { size } = await getHead(sealing!.app);
    return await eventually(async () => {
      const now = await published();
      return now.size >= size ? now : undefined;
    });
  }
  /** Returns the problem of a witness as of the newest checkpoint. */
  const problemOf = async (n: number) =>
    (await eventually(() => getPublishingState(sealing!.app))).witnesses[n]!.problem;
  const waiting = async () => {
    const state = await getPublishingState(sealing!.app);
    return state?.waitingSince ? state : undefined;
  };

  it("cosign a log that only grew, by the published protocol", async () => {
    const [witness] = witnesses as [TestWitness];
    const { seal, pause, go, troubles, app } = await start(0, [witness]);
    for (const count of [3, 297, 300]) {
      await sealAndPublish(count);
    }
    while ((await published()).cosigners.length === 0) await sealAndPublish(1); // it may be too late
    await pause();
    const { note, verifierKey, size } = (await getPublishedCheckpoint(app))!;
    const parsed = parseNote(note);
    assert.ok(isSignedBy(parsed, parseVerifierKey(verifierKey)));
    assert.ok(isSignedBy(parsed, witness.key));
    assert.ok(witness.proofs > 0, "it was given proofs");
    witness.forget(); // as one that was set up again: it answers with size 0, and gets no proof
    go();
    await seal(1);
    await eventually(() => Promise.resolve(witness.size > size || undefined));
    assert.deepEqual(troubles, []);
  });

  it("are asked at the start for the last size that they saw", async () => {
    const { pause, go } = await start(3);
    const { size } = await sealAndPublish(5);
    await pause();
    for (const witness of witnesses) (witness.asked as unknown[]).length = 0;
    go();
    const [first] = await eventually(() =>
      Promise.resolve(witnesses[0]!.asked.length > 0 ? witnesses[0]!.asked : undefined)
    );
    assert.deepEqual([first!.old, first!.size], [size, size]);
    await sealAndPublish(2);
    const { witnesses: states } = await eventually(() => getPublishingState(sealing!.app));
    assert.deepEqual(states.map(({ problem }) => problem), [null, null, null]);
  });

  it("publish with a quorum, and add the others' cosignatures where they come in time", async () => {
    await start(2);
    let { cosigners } = await sealAndPublish(3);
    while (cosigners.length < 3) ({ cosigners } = await sealAndPublish(1)); // one came too late
    assert.deepEqual(cosigners, ["witness.example/w1", "witness.example/w2", "witness.example/w3"]);
  });

  for (const [name, lie] of Object.entries(LIES)) {
    it(`cost no more than one cosignature where one ${name}`, async () => {
      witnesses[0]!.lie(lie);
      const { troubles } = await start(2);
      const { cosigners } = await sealAndPublish(3);
      assert.deepEqual(cosigners, ["witness.example/w2", "witness.example/w3"]);
      await eventually(() => Promise.resolve(troubles.length > 0));
      let problem = await problemOf(0);
      for (; problem === null; problem = await problemOf(0)) await sealAndPublish(1);
      assert.match(problem, /127\.0\.0\.1/);
    });
  }

  it("do not hold up the others where one never answers", async () => {
    witnesses[0]!.lie(() => {});
    await start(2);
    const started = performance.now();
    const { cosigners } = await sealAndPublish(1);
    assert.deepEqual(cosigners, ["witness.example/w2", "witness.example/w3"]);
    await sealAndPublish(1);
    await sealAndPublish(1);
    assert.ok(performance.now() - started < 60_000);
  });

  it("keep a checkpoint unpublished below the quorum, while sealing goes on", async () => {
    const { app, seal } = await start(2);
    const before = await sealAndPublish(3);
    for (const witness of witnesses.slice(0, 2)) witness.lie(LIES["breaks off"]);
    await seal(4);
    const state = await eventually(async () => {
      const state = await waiting();
      const well = state?.witnesses.filter(({ problem }) => problem === null);
      return well?.length === 1 ? state : undefined;
    });
    assert.equal(state.quorum, 2);
    assert.deepEqual(state.witnesses.map(({ problem }) => problem === null), [false, false, true]);
    await seal(4);
    assert.equal((await getHead(app)).size, before.size + 8);
    assert.equal((await published()).size, before.size, "nothing was published");
    const ledger = await serveLedger(sealing!.database);
    const get = async (path: string) =>
      await (await fetch(`${ledger.address}/api/${path}`)).json() as Json;
    const told = ["chain", "stats", "health", "receipts", "export", "activity"];
    const [chain, stats, health, list, exported, activity] = await Promise.all(told.map(get));
    const ofCategory = await get("receipts?category=test&limit=200");
    await ledger.stop();
    const { size } = before;
    assert.deepEqual(
      [chain!.total, stats!.total_receipts, health!.total_receipts, list!.total, exported!.total],
      [size, size, size, size, size],
      "nor told",
    );
    assert.ok(chain!.verified_through as number < size);
    assert.deepEqual([stats!.last_position, exported!.count], [size - 1, size]);
    assert.equal(stats!.last_hash, (list!.receipts as Json[])[0]!.sha256);
    assert.equal(sum(Object.values(stats!.provenance_summary as Record<string, number>)), size);
    assert.equal(sum((activity!.days as { receipts: number }[]).map((day) => day.receipts)), size);
    assert.equal(ofCategory.total, (stats!.provenance_summary as Record<string, number>).test);
    assert.equal((ofCategory.receipts as Json[]).length, ofCategory.total);
    witnesses[1]!.lie(undefined);
    const after = await sealAndPublish(1);
    assert.deepEqual(after.cosigners, ["witness.example/w2", "witness.example/w3"]);
    await eventually(async () => (await waiting()) === undefined || undefined);
  });

  it("are named once each, and are no fewer than the quorum", () => {
    const settings = (quorum: string, ...list: TestWitness[]) =>
      readLogSettings(loadConfig({
        SEALOOP_WITNESSES: list.map(({ setting }) => setting).join(",") || undefined,
        SEALOOP_WITNESS_QUORUM: quorum,
      }));
    assert.throws(() => settings("2", witnesses[0]!), /SEALOOP_WITNESS_QUORUM is 2, .* names 1/);
    assert.throws(() => settings("1"), /names 0/);
    assert.throws(() => settings("2", witnesses[0]!, witnesses[0]!), /names a witness twice/);
    assert.equal(settings("1", witnesses[0]!).witnessQuorum, 1);
  });
});
