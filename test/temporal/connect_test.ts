import assert from "node:assert/strict";
import type { Connection } from "@temporalio/client";
import { loadConfig } from "../../config.ts";
import { connectTemporal, type TemporalConnection } from "../../temporal/mod.ts";
import { testTemporal } from "../_servers.ts";

describe("connectTemporal()", () => {
  let temporal: TemporalConnection;
  let connection: Connection;
  let call: () => Promise<unknown>;
  before(async () => {
    const { address, namespace } = await testTemporal();
    const { port } = new URL(`http://${address}`);
    temporal = await connectTemporal(loadConfig({ SEALOOP_TEMPORAL_PORT: port }));
    connection = temporal.client.connection as Connection;
    call = () => connection.workflowService.describeNamespace({ namespace });
  });
  after(() => temporal?.close());

  /** Returns whether the context of calls is enabled. A Node on which that costs nothing has no such field. */
  const isEnabled = () =>
    (connection.callContextStorage as { enabled?: boolean }).enabled ?? isExpected;
  let isExpected = false;

  it("disables the context of calls when none is under way", async () => {
    assert.equal(isEnabled(), false, "after connecting");
    await call();
    assert.equal(isEnabled(), false, "after a call");
    await assert.rejects(connection.withDeadline(Date.now() - 1, call), /DEADLINE_EXCEEDED/);
    assert.equal(isEnabled(), false, "after a failed call");
  });

  it("keeps the context of calls enabled until the last one has ended", async () => {
    isExpected = true;
    const others = connection.withMetadata({ one: "kept" }, async () => {
      await call();
      await connection.withDeadline(Date.now() + 60_000, call);
      assert.equal(connection.callContextStorage.getStore()?.metadata?.one, "kept");
      assert.equal(isEnabled(), true);
    });
    await connection.withAbortSignal(AbortSignal.timeout(60_000), call);
    await others;
    isExpected = false;
    assert.equal(isEnabled(), false);
  });
});
