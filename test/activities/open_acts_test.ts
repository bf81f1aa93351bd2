/** Acts outside whose run was ended between their intent and their end. */
import assert from "node:assert/strict";
import { WorkflowNotFoundError } from "@temporalio/client";
import { settleOpenActs } from "../../activities/acts/mod.ts";
import { approvalKind } from "../../activities/approvals/mod.ts";
import { peerActivities, peerKind } from "../../activities/agents/mod.ts";
import { liftKind, silenceKind } from "../../activities/incidents/mod.ts";
import type { ActivityParts } from "../../activities/mod.ts";
import { loadConfig } from "../../config.ts";
import type { Store } from "../../store/mod.ts";
import { listOpenActs, openAct } from "../../store/acts/mod.ts";
import { putApproval } from "../../store/approvals/mod.ts";
import { getSilence } from "../../store/incidents/mod.ts";
import { insertRows } from "../_rows.ts";
import { testStore } from "../_servers.ts";
import { anyApproval } from "../store/_approvals.ts";
import { asSuperuser } from "../_superuser.ts";

const KINDS = { approval: approvalKind, peer: peerKind, silence: silenceKind, lift: liftKind };
const RUN = { workflow_id: "w", run_id: "12345678-1234-4234-8234-123456789abc" };
const TICKET = "INC-0000000000a1";

describe("acts whose run was ended", () => {
  let store: Store;
  let close: () => Promise<void>;
  let parts: ActivityParts;
  let status = "RUNNING";
  /** What Alertmanager shows; undefined: nothing, as there is none. */
  let silences: { id: string; mark: string; isOver: boolean }[] | undefined;
  before(async () => {
    const opened = await testStore();
    ({ store, close } = opened);
    const describeRun = async () => {
      if (status === "NOT_FOUND") throw new WorkflowNotFoundError("not found", "w", undefined);
      return { status: { name: status }, runId: RUN.run_id };
    };
    const temporal = async () => ({ workflow: { getHandle: () => ({ describe: describeRun }) } });
    parts = { ...opened, config: loadConfig({}), temporal } as unknown as ActivityParts;
    await insertRows(asSuperuser(store), "tickets", [{
      tenant_id: "platform",
      id: TICKET,
      title: "shop is down",
      description: "",
      severity: "high",
      status: "open",
      phase: "ticketed",
      escalated: true,
      requested_by: "sweep",
      opened_at: new Date(),
    }]);
  });
  beforeEach(() => {
    status = "TERMINATED";
    silences = [];
  });
  after(() => close());

  const settle = () => {
    const alerts = silences && { listSilences: () => Promise.resolve(silences) };
    return settleOpenActs({ ...parts, alerts } as unknown as ActivityParts, KINDS);
  };
  /** Returns the outcomes of the receipts that were requested about a subject. */
  async function outcomesOf(subject: string): Promise<string[]> {
    const rows = await asSuperuser(store).query<{ outcome: string }>(
      `SELECT concat_ws(' ', payload::json ->> 'action', payload::json ->> 'outcome') AS outcome
       FROM seal_outbox WHERE payload::json ->> 'subject' = $1 ORDER BY seq`,
      [subject],
    );
    return rows.map(({ outcome }) => outcome);
  }

  it("and was to ask an agent outside are unknown, once, and are not repeated by another run", async () => {
    const conversation_id = "CONV-0000000000a1";
    const request = {
      agent: "noc",
      conversation_id,
      question_id: "MSG-0000000000a1",
      requested_by: "key:test",
    };
    const { intendPeerMessage, sealPeerOutcome } = peerActivities(parts);
    assert.equal(await intendPeerMessage(request, RUN), true);
    assert.equal(await intendPeerMessage(request, RUN), true, "the same run repeats it");
    status = "RUNNING";
    assert.equal(await settle(), 0);
    status = "NOT_FOUND"; // long ago
    assert.equal(await settle(), 1);
    assert.equal(await settle(), 0);
    const other = { ...RUN, run_id: "22345678-1234-4234-8234-123456789abc" };
    assert.equal(await intendPeerMessage(request, other), false);
    await sealPeerOutcome(request, other, { state: "unknown", code: "no_answer" });
    assert.deepEqual(await listOpenActs(store.asPlatform()), []);
    assert.deepEqual(await outcomesOf(conversation_id), [
      "peer.message intended",
      "peer.message unknown",
      "peer.message unknown",
    ]);
  });

  it("and was to silence alerts end as Alertmanager shows it, else as unknown", async () => {
    const mark = (id: string) => `sealoop repairs it, see ${TICKET} (${id})`;
    const shown = [{ id: "sil-1", isOver: false }];
    const cases = [
      { id: "done", kind: "silence", shown, state: "done", lift: null },
      { id: "none", kind: "silence", shown, state: "unknown", lift: null },
      { id: "away", kind: "silence", shown: undefined, state: "unknown", lift: null },
      { id: "lifted", kind: "lift", shown: [], state: "done", lift: "done" },
      { id: "left", kind: "lift", shown, state: "done", lift: "not_done" },
      { id: "gone", kind: "lift", shown: undefined, state: "done", lift: "unknown" },
    ] as const;
    for (const { id, kind, shown, state, lift } of cases) {
      const isLift = kind === "lift";
      await insertRows(asSuperuser(store), "alert_silences", [{
        tenant_id: "platform",
        id,
        ticket_id: TICKET,
        service: "shop",
        state: isLift ? "done" : "intended",
        lift: isLift ? "intended" : null,
        wanted: 1,
        silences: [],
        ends_at: new Date(Date.now() + 60_000),
      }]);
      const act = { ticket_id: TICKET, action: { id: "ACT-1" }, round: 1, run: RUN };
      const run = { ...RUN, run_id: id };
      await store.asPlatform().transaction((trx) =>
        openAct(trx, { kind, id, run, act: { ...act, run } })
      );
      silences = shown?.map((one) => ({ ...one, mark: id === "none" ? mark("other") : mark(id) }));
      assert.equal(await settle(), 1, id);
      const ended = (await getSilence(store.asPlatform(), id))!;
      assert.deepEqual([ended.state, ended.lift], [state, lift], id);
    }
    assert.equal(await settle(), 0);
    assert.deepEqual(await outcomesOf(TICKET), [
      "silence done",
      "silence unknown",
      "silence unknown",
      "lift done",
      "lift not_done",
      "lift unknown",
    ]);
  });

  it("and never began: an approval is dropped, unless its workflow may be about to start", async () => {
    status = "NOT_FOUND";
    const [old, young] = ["APR-0000000000a1", "APR-0000000000a2"];
    for (const id of [old, young]) await putApproval(store.asPlatform(), anyApproval(id));
    await asSuperuser(store).execute(
      "UPDATE approvals SET asked_at = now() - interval '1 hour' WHERE id = $1",
      [old],
    );
    assert.equal(await settle(), 1);
    const left = await listOpenActs(store.asPlatform());
    assert.deepEqual(left.map(({ kind, id }) => [kind, id]), [["approval", young]]);
  });
});
