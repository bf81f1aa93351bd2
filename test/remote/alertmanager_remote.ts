import assert from "node:assert/strict";
import { findManagedProcess, stopManagedProcess } from "../../integrations/host/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { listOpenFindings, listTickets } from "../../store/incidents/mod.ts";
import type { itsmSweep } from "../../workflows/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { eventually } from "../_time.ts";
import { putAlertedService, writeAlertRules } from "../workflows/_alerted_service.ts";
import { openLoop, type TestLoop } from "../workflows/_loop.ts";
import { readTicketRecord } from "../workflows/_ticket_record.ts";
import { CREDENTIAL, getMonitoring, type Monitoring, startMonitoring } from "./_prometheus.ts";

const RULES = `groups:
  - name: shop
    rules:
      - { alert: ShopDown, expr: "up{job='shop'} == 0", labels: { severity: critical } }
      - { alert: Watchdog, expr: "vector(1)", labels: { severity: none } }
`;
const DETECTORS = `alerts:
  silence: true
  resolve_seconds: 45
  rules:
    - { match: { alertname: ShopDown, job: shop }, service: shop, code: down }
    - { match: { alertname: Watchdog }, ignore: true }
`;
/** A service that is measured, and has no health check. */
const SERVICE = `require("node:http").createServer((_, response) =>
  response.end("shop_orders 1\\n")).listen(Number(process.argv[1]), "127.0.0.1")`;

describe("A service that Prometheus sees fail", function () {
  this.timeout(900_000);
  let monitoring: Monitoring | undefined;
  let loop: TestLoop | undefined;

  before(async function () {
    const folder = await testFolder();
    const got = await getMonitoring(folder);
    if ("missing" in got) {
      console.log(`  skipped: ${got.missing}`);
      return this.skip();
    }
    const port = await freePort();
    monitoring = await startMonitoring(got.folder, folder, {
      rules: RULES,
      targets: { shop: `127.0.0.1:${port}` },
    });
    loop = await openLoop({
      settings: {
        SEALOOP_DETECTORS: await writeAlertRules(DETECTORS),
        SEALOOP_ALERTMANAGER_URL: monitoring.alertmanager,
        SEALOOP_CREDENTIALS: JSON.stringify({ alertmanager: CREDENTIAL }),
      },
    });
    await putAlertedService(loop.store, "shop", {
      process: { command: [process.execPath, "-e", SERVICE, String(port)] },
    });
  });
  after(async () => {
    if (loop) await stopManagedProcess(loop.config.dataDir, "shop");
    await loop?.stop();
    await monitoring?.stop();
  });

  let sweeps = 0;
  const sweep = async () =>
    await loop!.client.workflow.execute<typeof itsmSweep>(WORKFLOW.itsmSweep, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `sweep-${++sweeps}`,
      args: ["key:test"],
    });
  const firing = async () => (await loop!.alerts!.list()).map(({ labels }) => labels.alertname);

  it("is healed without a probe of ours, and the resolved alert is the proof", async () => {
    await eventually(async () => (await firing()).length === 2 || undefined);
    const result = await sweep();
    assert.equal(result.outcome, "sealed");
    assert.deepEqual([result.findings, result.incidents], [1, 1]);
    assert.ok(findManagedProcess(loop!.config.dataDir, "shop"));
    const { ticket, events, receipts } = await readTicketRecord(loop!.store, result.ticket_id!);
    assert.equal(ticket.title, "Alertmanager reports ShopDown for shop");
    assert.deepEqual(events, [
      "detected",
      "opened",
      "diagnosed",
      "permitted",
      "silenced",
      "intended",
      "remediated",
      "verified",
      "silence_lifted",
      "resolved",
    ]);
    const end = receipts.find(({ category }) => category === "self_heal")!;
    assert.deepEqual(end.details.verified, { healthy: true, code: "alert_resolved" });
    const silences = receipts.filter(({ category }) => category.startsWith("silence_"));
    assert.deepEqual(silences.map(({ action, outcome }) => [action, outcome]), [
      ["silence", "intended"],
      ["silence", "done"],
      ["lift", "intended"],
      ["lift", "done"],
    ]);
    assert.ok((await loop!.alerts!.listSilences()).every(({ isOver }) => isOver));
    assert.ok(!(await firing()).includes("ShopDown"));
    assert.deepEqual(await listOpenFindings(loop!.store.asPlatform()), []);
    assert.equal((await listTickets(loop!.store.asPlatform(), { limit: 10 })).length, 1);
  });

  it("is not taken for healed as its alert ends by itself, with the Prometheus that sent it", async () => {
    const { dataDir } = loop!.config;
    await stopManagedProcess(dataDir, "shop");
    await putAlertedService(loop!.store, "shop", { command: ["true"] });
    await eventually(async () => (await firing()).includes("ShopDown") || undefined);
    monitoring!.stopPrometheus();
    const { outcome, ticket_id } = await sweep();
    assert.equal(outcome, "escalated");
    const { receipts } = await readTicketRecord(loop!.store, ticket_id!);
    const end = receipts.find(({ category }) => category === "escalation")!;
    assert.equal(end.details.reason, "not_proven");
    assert.deepEqual(end.details.verified, { healthy: false, code: "alerts_unknown" });
    assert.ok(!(await firing()).includes("ShopDown"));
  });
});
