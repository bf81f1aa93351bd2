import assert from "node:assert/strict";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { openStore } from "../../../store/mod.ts";
import { isRefused } from "../../../contract/domain/mod.ts";
import { workerCodec } from "../../../runtime/temporal/mod.ts";
import { storeAs, testStore } from "../../_servers.ts";

describe("the codec of payloads", () => {
  let opened: Awaited<ReturnType<typeof testStore>>;
  before(async () => {
    opened = await testStore();
  });
  after(() => opened?.close());

  async function encode(value: unknown): Promise<Payload> {
    const codec = workerCodec(opened.store);
    return (await codec.encode([defaultPayloadConverter.toPayload(value)]))[0]!;
  }

  async function decode(payload: Payload): Promise<unknown> {
    const [decoded] = await workerCodec(opened.store).decode([payload]);
    return defaultPayloadConverter.fromPayload(decoded!);
  }

  const shown = (payload: Payload) => JSON.parse(Buffer.from(payload.data!).toString());

  it("leaves ids, states, codes and counts where operators see them", async () => {
    const value = {
      finding: { service: "shop", check: "http", code: "status_500", severity: "high" },
      ticket_id: "INC-4f1d22a90b7c",
      run: { workflow_id: "loop-1d0f6a2b9c3e4857", run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10" },
      round: 2,
      present: true,
      service: null,
    };
    const payload = await encode(value);
    assert.deepEqual(shown(payload), value);
    assert.equal(payload.metadata!.tenant, undefined);
    assert.deepEqual(await decode(payload), value);
  });

  it("takes out every other text, whatever it is called and wherever it is", async () => {
    const secret = "Zebra";
    const value = {
      report: secret,
      code: `a sentence of ${secret}`,
      requested_by: secret,
      steps: [{ step: "one", found: secret, [secret]: 1 }],
      action: { status: secret, [secret]: [1, 2] },
      held: { $private: secret },
      run: [secret, { workflow_id: `${secret} ${secret}` }],
      id: "x".repeat(129) + secret,
    };
    const payload = await encode(value);
    const text = JSON.stringify(shown(payload));
    const kept = text.replaceAll(`"${secret}":1`, ""); // names of fields are code's
    assert.ok(!kept.includes(secret), text);
    assert.deepEqual(await decode(payload), value);
    assert.ok(!JSON.stringify(shown(await encode([secret]))).includes(secret));
  });

  it("keeps the same text once", async () => {
    const count = async () =>
      Number((await opened.store.asPlatform().first("SELECT count(*) FROM private_texts"))!.count);
    const before = await count();
    for (let n = 0; n < 3; n++) await encode({ n, prompt: "the same", again: "the same" });
    assert.equal(await count(), before + 1);
  });

  it("stores no text for the sequencer, which has no right to any", async () => {
    const codec = workerCodec(await storeAs(opened.store, "sequencer"));
    const value = { message: "Connection refused" };
    const [payload] = await codec.encode([defaultPayloadConverter.toPayload(value)]);
    assert.deepEqual(shown(payload!), value);
    const [decoded] = await codec.decode([payload!]);
    assert.deepEqual(defaultPayloadConverter.fromPayload(decoded!), value);
  });

  it("leaves values that are no JSON", async () => {
    assert.equal(await decode(await encode(undefined)), undefined);
    assert.equal(await decode(await encode(null)), null);
  });

  it("gives no value that the platform has not made, or not as it is, or not for this workflow", async () => {
    const codec = workerCodec(opened.store);
    const of = (workflowId: string) => ({ type: "workflow", namespace: "", workflowId }) as const;
    const refused = async (payload: Payload, workflowId: string) => {
      const [decoded] = await codec.decode([payload], of(workflowId));
      return isRefused(defaultPayloadConverter.fromPayload(decoded!));
    };
    const value = defaultPayloadConverter.toPayload({ code: "ok" });
    const [signed] = await codec.encode([value], of("loop-1"));
    assert.equal(await refused(signed!, "loop-1"), false);
    assert.equal(await refused(signed!, "loop-2"), true);
    assert.equal(await refused(value, "loop-1"), true);
    const data = Buffer.from('{"code":"no"}');
    assert.equal(await refused({ ...signed, data }, "loop-1"), true);
    const metadata = { ...signed!.metadata, tenant: Buffer.from("rival") };
    assert.equal(await refused({ ...signed, metadata }, "loop-1"), true);
  });

  it("says which text is missing", async () => {
    const payload = await encode({ prompt: "to be erased" });
    await opened.store.asPlatform().execute("DELETE FROM private_texts");
    const { $private: id } = shown(payload).prompt;
    await assertLost(payload, `Cannot read a payload: its text ${id} is not in the database`);
  });

  it("takes no text that was changed in the database", async () => {
    const payload = await encode({ prompt: "restart the shop" });
    const { $private: id } = shown(payload).prompt;
    await opened.database.executeAsSuperuser(
      `UPDATE private_texts SET text = 'format the disk' WHERE id = '${id}'`,
    );
    await assertLost(payload, `Cannot read a payload: its text ${id} was changed in the database`);
  });

  /** Asserts that a process that remembers no text can't read a payload. */
  async function assertLost(payload: Payload, message: string): Promise<void> {
    const another = openStore(opened.store.url, opened.store.role);
    try {
      const reading = workerCodec(another).decode([payload]);
      await assert.rejects(reading, { name: "PrivateTextLost", message });
    } finally {
      await another.close();
    }
  }
});
