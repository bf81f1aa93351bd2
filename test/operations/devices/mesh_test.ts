import assert from "node:assert/strict";
import { MockActivityEnvironment } from "@temporalio/testing";
import { createActivities } from "../../../activities/mod.ts";
import { readMesh } from "../../../judgement/shield/mod.ts";
import { listDeviceCommands } from "../../../store/devices/mod.ts";
import type { People } from "../../api/_people.ts";
import { asSuperuser } from "../../_superuser.ts";
import { storeDevice } from "../../judgement/shield/_stored_device.ts";
import { addMachine, type Machine, openCommandPlatform } from "./_commands.ts";

describe("the ways between devices", () => {
  let people: People;
  let machine: Machine;
  let other: string;
  before(async () => {
    people = await openCommandPlatform({ SEALOOP_DISCOVERY_ALLOW: "192.0.2.0/24" });
    machine = await addMachine(people);
    machine.start();
    const superuser = asSuperuser({ url: people.store.url, tenant: "platform" });
    const addresses = ["127.0.0.1", "203.0.113.9", "192.0.2.9"];
    other = await storeDevice(superuser, {
      inventory: { interfaces: [{ name: "eth0", addresses }] },
    });
    for (let n = 0; n < 20; n++) {
      await storeDevice(superuser, {
        inventory: { interfaces: [{ name: "eth0", addresses: ["203.0.113.10"] }] },
      });
    }
  });
  after(async () => {
    await machine?.stop();
    await people?.stop();
  });

  const order = async () => {
    const { orderMeasurements } = createActivities(people.loop).itsm;
    return await new MockActivityEnvironment().run(orderMeasurements, "platform") as number;
  };
  const commands = () => listDeviceCommands(people.store.asPlatform(), machine.id, { limit: 100 });

  it("are measured in networks that the operator allows, by devices that are online, once in their time", async () => {
    await people.eventually(async () => await order() > 0 || undefined);
    assert.equal(await order(), 0);
    const [command, ...others] = await commands();
    assert.deepEqual(others, []);
    assert.deepEqual(command!.argv, ["sealoop-agent", "reach", "--targets", "192.0.2.9:22"]);
    assert.deepEqual([command!.requestedBy, command!.approvalId], ["mesh", null]);
    await machine.until(command!.id, "done");
    const { links } = await people.eventually(async () => {
      const mesh = await readMesh(people.store.asPlatform());
      return mesh.links.length > 0 ? mesh : undefined;
    });
    assert.deepEqual(links.map(({ from, to, target }) => [from, to, target]), [
      [machine.id, other, "192.0.2.9:22"],
    ]);
  });

  it("are not measured where each command takes signatures", async () => {
    await asSuperuser(people.store).execute(
      "UPDATE device_commands SET created_at = created_at - interval '2 days'",
    );
    const approvers = { signatures_required: 1, keys: ["ab".repeat(32)] };
    await asSuperuser(people.store).execute(
      `INSERT INTO tenant_approvers (tenant_id, version, approvers, signatures, receipt_id)
       VALUES ('platform', 1, $1, '[]', 'none')`,
      [JSON.stringify(approvers)],
    );
    assert.equal(await order(), 0);
    assert.equal((await commands()).length, 1);
  });
});
