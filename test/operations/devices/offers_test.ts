import assert from "node:assert/strict";
import { approvalCalls } from "../../api/_approvals.ts";
import type { People } from "../../api/_people.ts";
import type { Json } from "../../calls/_platform.ts";
import { addMachine, approvalBegins, type Machine, openCommandPlatform } from "./_commands.ts";

describe("an offer instead of a command that people are asked about", () => {
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
  const { info } = approvalCalls(() => people);
  const offer = (id: string, who: string, args: Json) =>
    people.call("POST", `/v1/approvals/${id}/offer`, who, {
      arguments: args,
      reason: "Look first",
    });
  async function ordered(request: Json): Promise<{ command_id: string; approval_id: string }> {
    const { body } = await machine.order(request, "program");
    await approvalBegins(people, body.approval_id!);
    return body as { command_id: string; approval_id: string };
  }

  it("is another command for the same device, in the decider's name, that others approve", async () => {
    const { command_id, approval_id } = await ordered({ script_id: "uptime" });
    const path = `/v1/approvals/${approval_id}/context`;
    assert.deepEqual((await people.call("GET", path, "ann")).body.arguments, {
      script_id: "uptime",
    });
    const { status, body } = await offer(approval_id, "ann", {
      script_id: "disk-usage",
      device_id: "DEV-000000000000",
    });
    assert.equal(status, 200, JSON.stringify(body));
    const { denied, offered } = body;
    assert.deepEqual(
      [denied.status, offered.requested_by, offered.needed, offered.action.device_id],
      ["denied", "ann", 1, machine.id],
    );
    assert.match(offered.reasons[0], new RegExp(`^Whoever denied ${approval_id} offers this`));
    assert.equal((await machine.until(command_id, "refused")).code, "approval_denied");
    const [before, now] = [await info(approval_id), await info(offered.approval_id)];
    assert.deepEqual([before.offered, now.instead_of], [offered.approval_id, approval_id]);
    assert.equal((await people.vote(offered.approval_id, "approve", "ann")).status, 403);
    const approved = await people.vote(offered.approval_id, "approve", "bob");
    assert.equal(approved.body.status, "approved", JSON.stringify(approved.body));
    await machine.until(offered.subject, "done");
    assert.equal(offered.action.script.id, "disk-usage");
  });

  it("takes two others where its arguments are no script's", async () => {
    const { approval_id } = await ordered({ script_id: "uptime" });
    const free = { command: ["id"], reason: "Look who runs it" };
    const { body } = await offer(approval_id, "ann", free);
    assert.equal(body.offered.needed, 2, JSON.stringify(body));
    await people.vote(body.offered.approval_id, "deny", "bob");
  });

  it("is refused where it can't be, and then nothing is denied", async () => {
    const { approval_id } = await ordered({ script_id: "uptime" });
    const refused = async (who: string, args: Json, status: number, why: RegExp) => {
      const answer = await offer(approval_id, who, args);
      const said = JSON.stringify(answer.body);
      assert.deepEqual([answer.status, why.test(said)], [status, true], said);
    };
    await refused("ann", { script_id: "uptime" }, 409, /arguments that you deny/);
    await refused("ann", { script_id: "no-such-script" }, 404, /no-such-script/);
    await refused("program", { script_id: "disk-usage" }, 403, /may not decide|may_approve/);
    await refused("rival", { script_id: "disk-usage" }, 404, /There is no approval/);
    assert.equal((await info(approval_id)).status, "pending");
    await people.vote(approval_id, "deny", "bob");
  });
});
