import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { loadSigningKey } from "../../../ledger/crypto/mod.ts";
import {
  acceptClock,
  type ChainHead,
  getHeadAfter,
  openSigner,
  readSignerState,
  type Signer,
} from "../../../ledger/signer/mod.ts";
import { testFolder } from "../../_run.ts";
import { EMPTY, makeBatch } from "./_batches.ts";
import { MemoryObjects } from "./_objects.ts";

describe("a signer whose journal is in a bucket", () => {
  let objects: MemoryObjects;
  let key: string;
  beforeEach(async () => {
    objects = new MemoryObjects();
    key = join(await testFolder(), "ledger.key");
  });

  /** Opens the signer on another machine, which has a copy of the key. */
  async function open(): Promise<Signer> {
    const copy = join(await testFolder(), "ledger.key");
    if (objects.stored.size === 0) return await openSigner(key, { journal: objects });
    copyFileSync(key, copy);
    return await openSigner(copy, { journal: objects, mayBegin: false });
  }
  const writes = () => [...objects.stored].filter(([name]) => name.startsWith("write-"));

  it("goes on on another machine with what was signed, and the one before signs nothing more", async () => {
    const first = await open();
    await first.startFrom(EMPTY);
    const [one, two] = [makeBatch(EMPTY, 3), makeBatch({ size: 3, hash: null }, 1)];
    const given = await first.sign(one);
    const second = await open();
    assert.deepEqual(second.state().pending, [one]);
    assert.deepEqual(await second.sign(one), given);
    await assert.rejects(first.sign(makeBatch(getHeadAfter(one), 1)), { name: "SignerReplaced" });
    await assert.rejects(second.sign(two), { name: "SignatureRefused" });
    second.acknowledge(getHeadAfter(one));
    await second.sign(makeBatch(getHeadAfter(one), 1));
    await Promise.all([first.close(), second.close()]);
  });

  it("meets the one that has replaced it, also where that has packed what it has written", async () => {
    const stopped = await open();
    await stopped.startFrom(EMPTY);
    let head: ChainHead = EMPTY;
    for (let n = 0; n < 3; n++) { // each packs the generation before
      const next = await open();
      const batch = makeBatch(head, 2);
      await next.sign(batch);
      next.acknowledge(head = getHeadAfter(batch));
      await next.close();
    }
    await assert.rejects(stopped.sign(makeBatch(EMPTY, 1, "other")), { name: "SignerReplaced" });
    await stopped.close();
  });

  it("is one, of many that are opened and sign at once, 12 times", async () => {
    loadSigningKey(key);
    const begun = await openSigner(key, { journal: objects, mayBegin: true, socket: undefined })
      .catch(() => undefined);
    assert.equal(begun, undefined, "a key without a journal may have signed");
    key = join(await testFolder(), "ledger.key");
    const first = await open();
    await first.startFrom(EMPTY);
    let head: ChainHead = EMPTY;
    for (let round = 0; round < 12; round++) {
      const signed = new Set<string>();
      await Promise.all(Array.from({ length: 3 }, async (_, n) => {
        const one = await open();
        const batch = makeBatch(head, 1, `of ${n} in ${round}`);
        await one.sign(batch).then(() => signed.add(`of ${n} in ${round}`), () => {});
        await one.close();
      }));
      assert.ok(signed.size <= 1, [...signed].join());
      const { state } = await readSignerState(key, objects);
      const [batch] = state.pending;
      if (signed.size === 1) assert.deepEqual(batch, makeBatch(head, 1, [...signed][0]));
      if (!batch) continue;
      const next = await open();
      await next.sign(batch);
      next.acknowledge(head = getHeadAfter(batch));
      await next.close();
    }
    assert.ok(head.size > 0);
    await assert.rejects(first.sign(makeBatch(EMPTY, 1)), { name: /SignerReplaced/ });
    await first.close();
  });

  it("makes few objects of what is old, and keeps it with its signatures", async () => {
    const signer = await open();
    await signer.startFrom(EMPTY);
    let head: ChainHead = EMPTY;
    for (let n = 0; n < 2_500; n++) {
      const batch = makeBatch(head, 1);
      await signer.sign(batch);
      signer.acknowledge(head = getHeadAfter(batch));
    }
    const [first] = await signer.readCommitted(0);
    assert.equal(first!.position, 0);
    await signer.close();
    const left = writes().filter(([, { length }]) => length > 0).length;
    assert.ok(left <= 1_001, String(left));
    const next = await open();
    assert.equal(next.state().committed!.size, 2_500);
    assert.equal((await next.readCommitted(1)).length, 2_499);
    await next.close();
  });

  it("reads all that is kept, also where another one packs it meanwhile", async () => {
    const signer = await open();
    await signer.startFrom(EMPTY);
    const batch = makeBatch(EMPTY, 3);
    await signer.sign(batch);
    signer.acknowledge(getHeadAfter(batch));
    await signer.sign(makeBatch(getHeadAfter(batch), 1));
    const list = objects.list.bind(objects);
    objects.list = async function* (prefix) {
      const found = [];
      for await (const object of list(prefix)) found.push(object);
      objects.list = list;
      await (await open()).close();
      yield* found;
    };
    assert.equal((await signer.readCommitted(0)).length, 3);
    await signer.close();
  });

  it("keeps what is signed while an operator accepts the clock", async () => {
    const signer = await open();
    await signer.startFrom(EMPTY);
    const batch = makeBatch(EMPTY, 3);
    const create = objects.create.bind(objects);
    objects.create = async (name, bytes) => {
      if (!name.startsWith("write-")) return await create(name, bytes);
      objects.create = create;
      await signer.sign(batch);
      return await create(name, bytes);
    };
    await acceptClock(key, objects);
    assert.deepEqual((await readSignerState(key, objects)).state.pending, [batch]);
    await signer.close();
  });

  it("refuses a journal of which an object was changed or removed, and a bucket without conditions", async () => {
    const signer = await open();
    await signer.startFrom(EMPTY);
    const batch = makeBatch(EMPTY, 3);
    await signer.sign(batch);
    await signer.sign(makeBatch(getHeadAfter(batch), 1));
    await signer.close();
    const whole = new Map(objects.stored);
    const [name, bytes] = writes().at(-2)!;
    const changed = Buffer.from(bytes);
    changed[changed.length >> 1]! ^= 1;
    objects.stored.set(name, changed);
    await assert.rejects(open(), { name: "SignerStateError" });
    objects.stored.delete(name);
    await assert.rejects(open(), { name: "SignerStateError" });
    for (const [key, value] of whole) objects.stored.set(key, value);
    await (await open()).close();
    objects.create = async (key, bytes) => {
      await objects.put(key, bytes);
      return true;
    };
    await assert.rejects(open(), /does not honour If-None-Match/);
  });
});
