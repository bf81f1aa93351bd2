/** Approvals: they wait for people, and expire. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkflowHandle } from "@temporalio/client";
import { bindAction } from "../../../calls/approvals/mod.ts";
import { type ApprovalRequest, WORKFLOW } from "../../../contract/domain/mod.ts";
import { listApprovalMoves } from "../../../store/approvals/mod.ts";
import type { KeyRecord } from "../../../store/keys/mod.ts";
import type { approval } from "../../../workflows/mod.ts";
import { eventually } from "../../_time.ts";
import type { KillSubject, Stage } from "../_kill_stage.ts";
import type { LoopBench } from "../_loop_bench.ts";
import { createApprover, vote } from "../_people.ts";
import { receiptsAbout } from "../_ticket_record.ts";

let ann: KeyRecord;
let bob: KeyRecord;

/** Kills of approvals. */
export const approvalKills: KillSubject = {
  async prepare({ store }) {
    [ann, bob] = [await createApprover(store, "ann"), await createApprover(store, "bob")];
  },
  rows: [
    {
      name: "an approval goes on waiting, and counts the votes before and after",
      async run(stage) {
        const { bench } = stage;
        const request = requestOf({ needed: 2 });
        const id = request.approval_id;
        const handle = await ask(stage, request);
        await stage.replaced(vote(bench, id, "approved", ann));
        await assert.rejects(
          vote(bench, id, "approved", await createApprover(bench.store, "Ann ")),
        );
        await vote(bench, id, "approved", bob);
        const { status, approvers } = await handle.result();
        assert.deepEqual([status, approvers], ["approved", [`key:${ann.id}`, `key:${bob.id}`]]);
        assert.deepEqual(await moves(bench, id), ["requested", "approved", "approved"]);
        assert.equal((await receiptsAbout(bench.store, id, 3)).length, 3);
      },
    },
    {
      name: "an approval makes each move once, although its worker died before it reported it",
      async run(stage) {
        const { bench } = stage;
        const request = requestOf();
        const id = request.approval_id;
        const handle = await ask(stage, request);
        await begun(bench, id);
        const { reached } = await stage.hold({ run: id, when: "after", activity: "moveApproval" });
        const approved = vote(bench, id, "approved", ann);
        await stage.replaced(reached);
        assert.equal((await approved).status, "approved");
        assert.equal((await handle.result()).status, "approved");
        assert.deepEqual(await moves(bench, id), ["requested", "approved"]);
        await sleep(500);
        assert.equal((await receiptsAbout(bench.store, id, 2)).length, 2);
      },
    },
    {
      name: "an approval is stored and sealed once, although its worker died at the start",
      async run(stage) {
        const { bench } = stage;
        const request = requestOf();
        const id = request.approval_id;
        const { reached } = await stage.hold({ run: id, when: "after", activity: "openApproval" });
        await ask(stage, request);
        await stage.replaced(reached);
        await vote(bench, id, "approved", ann);
        assert.deepEqual(await moves(bench, id), ["requested", "approved"]);
        assert.equal((await receiptsAbout(bench.store, id, 2)).length, 2);
      },
    },
    {
      name: "an approval expires on time while no worker runs, and can be reopened",
      async run(stage) {
        const { bench } = stage;
        await stage.othersAreReady(); // so that it does not expire before
        const request = requestOf({ expires_in_seconds: 1 });
        const id = request.approval_id;
        const handle = await ask(stage, request);
        await stage.killed(begun(bench, id));
        await sleep(2_000);
        await stage.next();
        const { status, moves: count } = await handle.result();
        assert.deepEqual([status, count], ["expired", 2]);
        const again = await ask(stage, {
          ...request,
          expires_in_seconds: 3_600,
          reopens: { status: "expired", moves: count },
        });
        await vote(bench, id, "reopened", bob);
        await vote(bench, id, "approved", bob);
        assert.equal((await again.result()).status, "approved");
        assert.deepEqual(await moves(bench, id), ["requested", "expired", "reopened", "approved"]);
      },
    },
  ],
};

function requestOf(terms: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    approval_id: `APR-${randomBytes(6).toString("hex")}`,
    subject: "test",
    action: { do: "it" },
    action_sha256: bindAction({ do: "it" }, '{"do":"it"}').actionSha256,
    requested_by: "program",
    needed: 1,
    expires_in_seconds: 3_600,
    escalate_after_seconds: 0,
    ...terms,
  };
}

async function ask(
  { start }: Stage,
  request: ApprovalRequest,
): Promise<WorkflowHandle<typeof approval>> {
  return await start(WORKFLOW.approval, `approval-${request.approval_id}`, request);
}

async function moves({ store }: LoopBench, id: string): Promise<string[]> {
  return (await listApprovalMoves(store.asPlatform(), id)).map(({ move }) => move);
}

function begun(bench: LoopBench, id: string): Promise<true> {
  return eventually(async () => (await moves(bench, id)).length > 0 || undefined);
}
