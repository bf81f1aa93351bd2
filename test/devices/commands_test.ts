import assert from "node:assert/strict";
import type { People } from "../api/_people.ts";
import { addMachine, type Machine, openCommandPlatform } from "./_commands.ts";

describe("a command for a device", () => {
  let people: People;
  let machine: Machine;
  before(async () => {
    people = await openCommandPlatform();
    machine = await addMachine(people);
    machine.start();
  });
  after(async () => {
    await machine?.stop();
    await people?.stop();
  });

  const approve = (id: string, who = "ann") =>
    people.call("POST", `/v1/approvals/${id}/approve`, who, {});

  it("runs once people have approved it, and leaves three receipts", async () => {
    const { status, body } = await machine.order({ script_id: "uptime" });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.status, "waiting_approval");
    const approved = await approve(body.approval_id);
    assert.equal(approved.status, 200, JSON.stringify(approved.body));
    const command = await machine.until(body.command_id, "done");
    assert.deepEqual(command.approved_by, ["ann"]);
    assert.equal(command.exit_code, 0);
    const { issued, begun, ended } = command.receipts;
    for (const id of [issued, begun, ended]) await people.sealed(id);
    assert.equal(new Set([issued, begun, ended]).size, 3);
  });
});
