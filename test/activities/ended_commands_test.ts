import assert from "node:assert/strict";
import { WorkflowNotFoundError } from "@temporalio/client";
import { MockActivityEnvironment } from "@temporalio/testing";
import type { ActivityParts } from "../../activities/mod.ts";
import { settleOpenActs } from "../../activities/acts/mod.ts";
import { commandKind } from "../../activities/devices/mod.ts";
import { commandWorkflowId } from "../../contract/domain/mod.ts";
import type { Store } from "../../store/mod.ts";
import { getDeviceCommand } from "../../store/devices/mod.ts";
import { insertRows } from "../_rows.ts";
import { testStore } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";
import { storeDevice } from "../judgement/shield/_stored_device.ts";

const COMMANDS = 40;
/** The one of which Temporal says nothing. */
const MUTE = 7;

describe("commands whose workflow was ended from outside", () => {
  let store: Store;
  let close: () => Promise<void>;
  let parts: ActivityParts;
  let atOnce = 0;
  let mostAtOnce = 0;
  before(async () => {
    const opened = await testStore();
    ({ store, close } = opened);
    const superuser = asSuperuser({ url: store.url, tenant: "platform" });
    const device_id = await storeDevice(superuser);
    const rows = Array.from({ length: COMMANDS }, (_, n) => ({
      tenant_id: "platform",
      id: idOf(n),
      device_id,
      argv: "[]",
      account: "agent",
      timeout_seconds: 60,
      output_bytes: 1,
      read_only: true,
      expires_at: new Date(Date.now() + 3_600_000),
      description: "",
      requested_by: "ann",
      needed: 0,
      grounds: "{}",
      status: "queued",
      created_at: new Date(Date.now() - 3_600_000),
    }));
    await insertRows(superuser, "device_commands", rows);
    const getHandle = (id: string) => ({
      async describe() {
        mostAtOnce = Math.max(mostAtOnce, ++atOnce);
        await new Promise((resolve) => setTimeout(resolve, 20));
        atOnce--;
        if (id === commandWorkflowId(idOf(MUTE))) throw new Error("away");
        throw new WorkflowNotFoundError("not found", id, undefined);
      },
    });
    const temporal = async () => ({ workflow: { getHandle } });
    parts = { ...opened, temporal } as unknown as ActivityParts;
  });
  after(() => close());

  const idOf = (n: number) => `CMD-${n.toString(16).padStart(12, "0")}`;

  it("are ended, all but the one that can't be looked at, several at a time", async () => {
    const settle = () => settleOpenActs(parts, { command: commandKind });
    assert.equal(await new MockActivityEnvironment().run(settle), COMMANDS - 1);
    const db = store.asPlatform();
    assert.equal((await getDeviceCommand(db, idOf(0)))!.status, "cancelled");
    assert.equal((await getDeviceCommand(db, idOf(MUTE)))!.status, "queued");
    assert.ok(mostAtOnce > 1 && mostAtOnce <= 16, String(mostAtOnce));
    await assert.rejects(new MockActivityEnvironment().run(settle), /away/);
  });
});
