import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../../config.ts";
import { parseCheckpoint, parseNote } from "../../../../ledger/notes/mod.ts";
import { getInventory, notifyDevice } from "../../../../store/devices/mod.ts";
import { eventually } from "../../../_time.ts";
import {
  type DevicePlatform,
  startDevicePlatform,
  type TestDevice,
  writeAgentState,
} from "./_devices.ts";

const AGENT = join(ROOT, "dist", "agent", "sealoop_agent.py");

describe("the agent, with a gateway", () => {
  let platform: DevicePlatform;
  let device: TestDevice;
  let state: string;
  let agent: ChildProcess;
  let said = "";
  before(async () => {
    platform = await startDevicePlatform();
    device = await platform.addDevice();
    state = await writeAgentState(platform, device);
    agent = spawn(process.env.SEALOOP_TEST_PYTHON ?? "python3", [
      "-I",
      AGENT,
      "run",
      "--state",
      state,
    ]);
    agent.stderr!.on("data", (data) => said += data);
  });
  after(async () => {
    agent?.kill();
    await platform?.stop();
  });

  async function until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
    return await eventually(async () => await look()).catch(({ message }) =>
      assert.fail(`${message}: ${said}`)
    );
  }
  const stateRow = () =>
    platform.platform.store.asTenant("acme").first(
      "SELECT * FROM device_states WHERE device_id = $1",
      [device.id],
    );
  const acceptedSize = () => {
    const { checkpoint } = JSON.parse(readFileSync(join(state, "runner", "accepted.json"), "utf8"));
    return parseCheckpoint(parseNote(checkpoint).text).size;
  };

  it("brings its inventory with the first heartbeat", async () => {
    const row = await until(async () => {
      const found = await stateRow();
      return found?.inventory_sha256 ? found : undefined;
    });
    assert.ok(row.online_since);
    const { sections } = await getInventory(platform.platform.store.asTenant("acme"), device.id);
    assert.ok(sections.has("os") && sections.has("posture"));
  });

  it("accepts the log and its consistency proof, and cosigns the head", async () => {
    const before = acceptedSize();
    for (let n = 0; n < 5; n++) {
      await platform.platform.sealer.request({
        category: "test",
        actor: "test",
        subject: "test",
        action: "test",
        outcome: "ok",
      });
    }
    const size = await platform.untilPublished(before + 5);
    const accepted = await until(async () => {
      await notifyDevice(platform.platform.store.asTenant("acme"), device.id); // ends what waits
      return acceptedSize() >= size ? acceptedSize() : undefined;
    });
    const row = await until(async () => {
      const found = await stateRow();
      return Number(found?.log_size) >= accepted && found?.cosigned_note ? found : undefined;
    });
    assert.ok(parseCheckpoint(parseNote(row.cosigned_note).text).size >= size);
    assert.ok(!/refused|Traceback/.test(said), said);
  });
});
