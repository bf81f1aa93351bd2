import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { computeCommitment } from "../../store/mod.ts";
import { AgentScene, type Fields } from "./_agent.ts";
import { copyDevice, countRuns, enroll, runAgent } from "./_device.ts";

describe("the agent", () => {
  const scene = new AgentScene();

  it("enrols, runs what it is issued, and shows a person what was approved and what ran", async () => {
    const device = await enroll(scene.gateway);
    scene.run(device);
    const id = await scene.issue(device, 1);
    await scene.until(() => scene.gateway.outputs.has(id), "the output came");
    assert.equal(countRuns(device), 1);
    const ended = scene.endOf(id)!;
    const { salt, output } = scene.gateway.outputs.get(id)!;
    assert.equal(output.toString(), "output\n");
    const commitment = computeCommitment(Buffer.from(salt, "hex"), output.toString());
    assert.equal(ended.output_sha256, commitment);

    const { code, output: shown } = await runAgent(
      "verify-bundle",
      id,
      "--user",
      "--state",
      device.state,
    );
    assert.equal(code, 0, shown);
    assert.match(shown, /^issued +receipt [0-9a-f]{16} at position \d+/m);
    assert.match(shown, /^begun +receipt [0-9a-f]{16}/m);
    assert.match(shown, /^ended +receipt [0-9a-f]{16} at position \d+: done, exit_code 0/m);
    const status = await runAgent("status", "--user", "--state", device.state);
    assert.match(status.output, new RegExp(`${device.id} of platform`));

    const path = join(device.state, "runner", "commands", id, "bundle.json");
    writeFileSync(path, readFileSync(path, "utf8").replace('"/bin/sh"', '"/bin/sx"'));
    const altered = await runAgent("verify-bundle", id, "--user", "--state", device.state);
    assert.equal(altered.code, 1);
    assert.match(altered.output, /commitment_mismatch/);
  });

  it("sends one heartbeat at a time with growing counters, and the very same one again where no answer came", async () => {
    const device = await enroll(scene.gateway);
    scene.gateway.silent = true;
    const child = scene.run(device);
    await scene.until(() => scene.gateway.heartbeats.length >= 2, "it tries again");
    assert.equal(new Set(scene.gateway.heartbeats.map(({ sha256 }) => sha256)).size, 1);
    scene.gateway.silent = false;
    await scene.until(
      () => new Set(scene.gateway.heartbeats.map(({ fields }) => fields.counter)).size > 2,
      "beats",
    );
    await scene.end(child, "SIGKILL");
    const before = Math.max(
      ...scene.gateway.heartbeats.map(({ fields }) => Number(fields.counter)),
    );
    assert.ok(Number(readFileSync(join(device.state, "talker", "counter"), "utf8")) >= before);
    scene.run(device);
    await scene.until(
      () => Number(scene.gateway.heartbeats.at(-1)!.fields.counter) > before,
      "it goes on",
    );
    assert.ok(!scene.errors.includes("cloned"), scene.errors);
  });

  it("is found by its counter where its folder was cloned", async () => {
    const device = await enroll(scene.gateway);
    const clone = await copyDevice(device);
    scene.run(device);
    await scene.until(() => scene.gateway.heartbeats.length >= 2, "beats");
    scene.run(clone);
    await scene.until(() => scene.errors.includes("cloned"), "the clone is found");
  });

  it("sends its inventory once, then what has changed, and all of it where the platform lost it", async () => {
    const device = await enroll(scene.gateway);
    scene.run(device);
    await scene.until(() => scene.gateway.heartbeats.length >= 3, "beats");
    const deltas = scene.gateway.heartbeats.map(({ fields }) =>
      Object.keys(fields.delta as Fields ?? {})
    );
    assert.ok(deltas[0]!.includes("os") && deltas[0]!.includes("listeners"), String(deltas[0]));
    assert.ok(!deltas[2]!.includes("os"), String(deltas[2]));
    const seen = scene.gateway.heartbeats.length;
    scene.gateway.inventories.delete(device.id);
    await scene.until(() => scene.gateway.heartbeats.length > seen + 3, "beats");
    const later = scene.gateway.heartbeats.slice(seen).map(({ fields }) =>
      Object.keys(fields.delta as Fields ?? {})
    );
    assert.ok(later.some((names) => names.includes("os")));
  });

  it("cosigns the checkpoints that it accepts", async () => {
    const device = await enroll(scene.gateway);
    scene.run(device);
    scene.gateway.ledger.seal({});
    const size = scene.gateway.ledger.records.length;
    await scene.until(
      () => scene.gateway.heartbeats.some(({ fields }) => fields.log_size === size),
      "accepted",
    );
    const { fields } = scene.gateway.heartbeats.find(({ fields }) => fields.log_size === size)!;
    assert.match(String(fields.cosignature), new RegExp(`^— ${device.id} [A-Za-z0-9+/=]+\\n$`));
  });
});
