/** Silences of alerts during a repair: one is set, and lifted. */
import assert from "node:assert/strict";
import { WORKFLOW } from "../../../contract/domain/mod.ts";
import {
  startAlertmanager,
  type TestAlertmanager,
} from "../../judgement/detection/_alertmanager.ts";
import { eventually } from "../../_time.ts";
import { putAlertedService, SHOP_RULES, writeAlertRules } from "../_alerted_service.ts";
import type { KillSubject } from "../_kill_stage.ts";
import { readLoopEnd } from "../_ticket_record.ts";

let alertmanager: TestAlertmanager;

/** Kills of loops that silence alerts. */
export const silenceKills: KillSubject = {
  async open() {
    alertmanager = await startAlertmanager();
    return {
      SEALOOP_DETECTORS: await writeAlertRules(SHOP_RULES),
      SEALOOP_ALERTMANAGER_URL: alertmanager.url,
    };
  },
  close: () => alertmanager?.stop(),
  rows: [{
    name:
      "a silence is found by the next worker, which sets no other, and lifted once, although that one is killed, too",
    async run(stage) {
      const { bench } = stage;
      await stage.othersAreReady(); // the request that is held would time out
      await putAlertedService(bench.store, "shop");
      alertmanager.alerts = [{ labels: { alertname: "ShopDown", job: "shop" } }];
      alertmanager.hostile = ({ method }) => method === "POST"; // it sets the silence, and never says so
      const sweep = await stage.start(WORKFLOW.itsmSweep, "sweep", "key:test");
      await stage.killed(
        eventually(() => Promise.resolve(alertmanager.silences.length > 0 || undefined)),
      );

      alertmanager.hostile = ({ url }) => {
        if (url!.startsWith("/api/v2/silences")) alertmanager.alerts = []; // it is repaired now
        return false;
      };
      const point = { run: "loop-", when: "after", activity: "liftSilence" } as const;
      const { reached } = await stage.hold(point);
      await stage.next();
      await stage.killed(reached);
      assert.deepEqual(alertmanager.silences.map(({ state }) => state), ["expired"]);

      await stage.next();
      const { result, receipts } = await readLoopEnd(bench.store, sweep);
      assert.equal(result.outcome, "sealed");
      assert.equal(alertmanager.silences.length, 1);
      const acts = receipts.filter(({ category }) => category.startsWith("silence_"));
      assert.deepEqual(acts.map(({ action, outcome }) => `${action} ${outcome}`), [
        "silence intended",
        "silence done",
        "lift intended",
        "lift done",
      ]);
      const asked = alertmanager.asked.filter((one) => /^(POST|DELETE) /.test(one));
      assert.deepEqual(asked, ["POST /api/v2/silences", "DELETE /api/v2/silence/sil-1"]);
    },
  }],
};
