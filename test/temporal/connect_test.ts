import assert from "node:assert/strict";
import type { Connection } from "@temporalio/client";
import { loadConfig } from "../../config.ts";
import { connectTemporal, type TemporalConnection } from "../../temporal/mod.ts";
import { testTemporal } from "../_servers.ts";

describe("the context of calls to Temporal", () => {
  let temporal: TemporalConnection;
  let connection: Connection;
  let look: () => Promise<unknown>;
  before(async () => {
    const { address, namespace } = await testTemporal();
    const { port } = new URL(`http://${address}`);
    temporal = await connectTemporal(loadConfig({ SEALOOP_TEMPORAL_PORT: port }));
    connection = temporal.client.connection as Connection;
    look = () => connection.workflowService.describeNamespace({ namespace });
  });
  after(() => temporal?.close());

  /** Whether promises pay for it; a Node whose promises never do has no such field. */
  const isKept = () =>
    (connection.callContextStorage as { enabled?: boolean }).enabled ?? isSupposedToBe;
  let isSupposedToBe = false;

  it("is let go of when none is under way", async () => {
    assert.equal(isKept(), false, "after connecting");
    await look();
    assert.equal(isKept(), false, "after a call");
    await assert.rejects(connection.withDeadline(Date.now() - 1, look), /DEADLINE_EXCEEDED/);
    assert.equal(isKept(), false, "after one that failed");
  });

  it("is kept until the last one has ended", async () => {
    isSupposedToBe = true;
    const others = connection.withMetadata({ one: "kept" }, async () => {
      await look();
      await connection.withDeadline(Date.now() + 60_000, look);
      assert.equal(connection.callContextStorage.getStore()?.metadata?.one, "kept");
      assert.equal(isKept(), true);
    });
    await connection.withAbortSignal(AbortSignal.timeout(60_000), look);
    await others;
    isSupposedToBe = false;
    assert.equal(isKept(), false);
  });
});
