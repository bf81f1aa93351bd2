import assert from "node:assert/strict";
import { groundsOf } from "../../contract/records/mod.ts";
import { bindAction, hasApproved, putQuestion, recordOpening } from "../../calls/approvals/mod.ts";
import { loadScripts, releaseScripts } from "../../judgement/catalogue/mod.ts";
import { resolveCommand } from "../../operations/devices/orders/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { canonicalize, requestSeal } from "../../ledger/mod.ts";
import type { Role, Store } from "../../store/mod.ts";
import { addApprovalMove, getApproval, putApproval } from "../../store/approvals/mod.ts";
import { noteCallEffects } from "../../store/calls/mod.ts";
import { getDeviceCommand, putDeviceCommand } from "../../store/devices/mod.ts";
import type { deviceCommand, outsideAct } from "../../workflows/mod.ts";
import { addTestDevice } from "../operations/devices/protocol/_devices.ts";
import { storeAs } from "../_servers.ts";
import { anyApproval } from "../store/_approvals.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { createApprover } from "./_people.ts";

const DENIED = { code: "42501" };
const SERVERS = ["gateway", "tools"] as const;

describe("a row that a server wrote itself", () => {
  let loop: TestLoop;
  let deviceId: string;
  const servers = new Map<Role, Store>();
  let count = 0;

  before(async () => {
    loop = await openLoop();
    for (const role of SERVERS) servers.set(role, await storeAs(loop.store, role));
    await releaseScripts(loop.store, loadScripts());
    deviceId = (await addTestDevice(servers.get("gateway")!, "http://test", "platform")).id;
  });
  after(() => loop?.stop());

  const db = () => loop.store.asPlatform();
  const nextId = () => String(++count).padStart(12, "0");

  /** Stores a command as a server does that has asked nobody, and runs its workflow. */
  async function runForged(role: Role, change: object, sql?: string): Promise<string> {
    const id = `CMD-${nextId()}`;
    const request = { script_id: "uptime" };
    await putDeviceCommand(servers.get(role)!.asPlatform(), {
      ...await resolveCommand(db(), request),
      id,
      deviceId,
      expires_at: new Date(Date.now() + 60_000).toISOString(),
      requestedBy: "somebody",
      requestedByKey: null,
      approvalId: null,
      needed: 0,
      grounds: groundsOf({}),
      request,
      ...change,
    });
    if (sql) await servers.get(role)!.asPlatform().execute(sql, [id]);
    await loop.client.workflow.execute<typeof deviceCommand>(WORKFLOW.deviceCommand, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `command-${id}`,
      args: [{ command_id: id }],
    });
    const { status, code, sequence } = (await getDeviceCommand(db(), id))!;
    assert.equal(sequence, null, "it has no number");
    return `${status} ${code}`;
  }

  for (const role of SERVERS) {
    it(`has no command issued that the ${role} says nobody need approve`, async () => {
      assert.equal(await runForged(role, {}), "cancelled not_permitted");
      assert.equal(await runForged(role, { request: null }), "cancelled not_permitted");
    });

    it(`has no act done that the ${role} says a call has ordered, or people have approved`, async () => {
      const act = { system: "n8n", workflow: "tqX81", body: {} };
      for (const decision_id of [`GOV-${nextId()}`, `APR-${nextId()}`]) {
        const act_id = `ACT-${nextId()}`;
        await noteCallEffects(servers.get(role)!.asPlatform(), decision_id, { act_id }, {
          act,
          key_id: null,
        });
        const result = await loop.client.workflow.execute<typeof outsideAct>(WORKFLOW.outsideAct, {
          taskQueue: TASK_QUEUE.itsm,
          workflowId: `act-${act_id}`,
          args: [{ act_id, decision_id }],
        });
        assert.deepEqual([result.state, result.code], ["not_done", "not_permitted"]);
      }
    });

    it(`is no approval of what the platform asks, where the ${role} asked first`, async () => {
      const action = { publish: "article", page_sha256: "0".repeat(64) };
      const forged = {
        ...anyApproval(`APR-${nextId()}`),
        ...bindAction(action, canonicalize(action)),
      };
      const { id } = forged;
      await putApproval(servers.get(role)!.asPlatform(), forged);
      const asked = { ...forged, description: "", needed: 1 };
      await assert.rejects(putQuestion(db(), loop.config, asked), { name: "Conflict" });
      const run = { workflow_id: `approval-${id}`, run_id: "made-up" };
      const opening = { approval_id: id, subject: "test", requested_by: "itsm-loop", run };
      await assert.rejects(
        recordOpening(loop, { ...opening, action, action_sha256: forged.actionSha256 }),
        { name: "Conflict" },
      );
      const move = { number: 1, move: "approved", status: "approved", receiptId: "r" } as const;
      const approvers = [{ key_id: "0".repeat(16), principal: "ann" }];
      await addApprovalMove(db(), id, { ...move, approvers });
      assert.equal(hasApproved(await getApproval(db(), id), action), false);
    });

    it(`says that the ${role} wrote it, whatever it says`, async () => {
      const store = servers.get(role)!.asPlatform();
      for (
        const sql of [
          "INSERT INTO call_effects (decision_id, ids, stored_by) VALUES ('x', '{}', 'sealoop_worker')",
          "UPDATE approvals SET stored_by = 'sealoop_worker'",
          "UPDATE device_commands SET stored_by = 'sealoop_worker'",
          "UPDATE device_commands SET needed = 0",
          "UPDATE device_commands SET argv = '[]'",
        ]
      ) await assert.rejects(store.execute(sql), DENIED, sql);
    });

    it(`seals no receipt that issues a command, where the ${role} asks for it`, async () => {
      const receipt = {
        category: "device_command",
        actor: "devices",
        subject: deviceId,
        action: "issued",
        outcome: "issued",
        details: {},
      };
      await assert.rejects(requestSeal(servers.get(role)!.asPlatform(), receipt), DENIED);
    });
  }

  it("has no command issued in the name of a person, where the tool server says who has called", async () => {
    const { id: requestedByKey } = await createApprover(loop.store, "ann");
    assert.equal(await runForged("tools", { requestedByKey }), "cancelled not_permitted");
  });

  it("takes no hold of repairs away, where the tool server does it", async () => {
    await db().execute(
      `INSERT INTO calendar_events (id, uid, title, kind, calendar, starts_at, ends_at, time_zone, location, attendees,
         services, busy, created_by)
       VALUES ('EVT-1', 'u', 'Freeze', 'freeze', 'main', now(), now() + interval '1 hour', 'UTC', '', '[]', '{}', false, 'ann')`,
    );
    await db().execute(
      `INSERT INTO calendar_occurrences (event_id, starts_at, ends_at, kind, calendar, busy)
       SELECT id, starts_at, ends_at, kind, calendar, busy FROM calendar_events`,
    );
    const tools = servers.get("tools")!.asPlatform();
    await assert.rejects(tools.execute("UPDATE calendar_events SET cancelled_at = now()"), DENIED);
    await assert.rejects(tools.execute("DELETE FROM calendar_occurrences"), DENIED);
  });

  it("has no command issued that waits for people, where the gateway says it is queued", async () => {
    const waits = { approvalId: `APR-${nextId()}`, needed: 1 };
    const sql = "UPDATE device_commands SET status = 'queued' WHERE id = $1";
    assert.equal(await runForged("gateway", waits, sql), "cancelled not_permitted");
  });

  it("is no question of which people are shown another action than the one they approve", async () => {
    const id = `APR-${nextId()}`;
    const [shown, meant] = [{ restart: "shop" }, { format: "/" }].map((action) =>
      bindAction(action, canonicalize(action))
    );
    const run = { workflow_id: `approval-${id}`, run_id: "made-up" };
    const opening = {
      approval_id: id,
      subject: "test",
      requested_by: "itsm-loop",
      action: shown!.action,
      action_sha256: meant!.actionSha256,
      run,
    };
    await assert.rejects(recordOpening(loop, opening), { name: "Conflict" });
    const { action: _, ...withoutAction } = opening;
    await assert.rejects(recordOpening(loop, withoutAction), { name: "Conflict" });
    assert.equal(await getApproval(db(), id), undefined);
  });
});
