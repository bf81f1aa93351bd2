import assert from "node:assert/strict";
import { type LoopResult, WORKFLOW } from "../../contract/domain/mod.ts";
import type { itsmSweep } from "../../workflows/mod.ts";
import { startAlertmanager, type TestAlertmanager } from "../judgement/detection/_alertmanager.ts";
import { eventually } from "../_time.ts";
import { putAlertedService, SHOP_RULES, writeAlertRules } from "./_alerted_service.ts";
import { type LoopBench, openLoopBench } from "./_loop_bench.ts";
import { readTicketRecord } from "./_ticket_record.ts";

const QUEUE = "itsm-silence";

describe("a worker that is killed with -9 while alerts are silenced", () => {
  let bench: LoopBench;
  let alertmanager: TestAlertmanager;
  before(async () => {
    alertmanager = await startAlertmanager();
    bench = await openLoopBench({
      settings: {
        SEALOOP_DETECTORS: await writeAlertRules(SHOP_RULES),
        SEALOOP_ALERTMANAGER_URL: alertmanager.url,
      },
    });
  });
  after(async () => {
    await bench?.close();
    await alertmanager?.stop();
  });

  it("has its silence found by the next one, which sets no other, and lifted once", async () => {
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => bench.worker(QUEUE)));
    await putAlertedService(bench.store, "shop");
    alertmanager.alerts = [{ labels: { alertname: "ShopDown", job: "shop" } }];
    alertmanager.hostile = ({ method }) => method === "POST"; // it sets the silence, and never says so
    first!.begin();
    const sweep = await bench.client.workflow.start<typeof itsmSweep>(WORKFLOW.itsmSweep, {
      taskQueue: QUEUE,
      workflowId: "sweep",
      args: ["key:test"],
    });
    await eventually(() => Promise.resolve(alertmanager.silences.length > 0 || undefined));
    first!.kill();
    assert.equal(await first!.ended, "SIGKILL");

    alertmanager.hostile = ({ url }) => {
      if (url!.startsWith("/api/v2/silences")) alertmanager.alerts = []; // it is repaired now
      return false;
    };
    second!.dieAt({ when: "after", activity: "liftSilence" });
    second!.begin();
    assert.equal(await second!.ended, "SIGKILL");
    assert.deepEqual(alertmanager.silences.map(({ state }) => state), ["expired"]);

    third!.begin();
    const { outcome, ticket_id } = await sweep.result() as LoopResult;
    assert.equal(outcome, "sealed");
    assert.equal(alertmanager.silences.length, 1);
    const { receipts } = await readTicketRecord(bench.store, ticket_id!);
    const acts = receipts.filter(({ category }) => category.startsWith("silence_"));
    assert.deepEqual(acts.map(({ action, outcome }) => `${action} ${outcome}`), [
      "silence intended",
      "silence done",
      "lift intended",
      "lift done",
    ]);
    const asked = alertmanager.asked.filter((one) => /^(POST|DELETE) /.test(one));
    assert.deepEqual(asked, ["POST /api/v2/silences", "DELETE /api/v2/silence/sil-1"]);
  });
});
