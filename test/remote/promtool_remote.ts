import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import assert from "node:assert/strict";
import { ROOT } from "../../config.ts";
import {
  countCall,
  countDecision,
  countLoop,
  countModelUse,
  renderMetrics,
  usePlatformMetrics,
  useProcessMetrics,
} from "../../runtime/metrics/mod.ts";
import { testFolder } from "../_run.ts";
import { unpackDebian } from "./_debian.ts";
import { skipSuite } from "./_skip.ts";

const RULES = join(ROOT, "deploy", "observability", "alerts.yaml");
/** The sequencer stands still, and most devices are away. */
const SCENARIO = `rule_files: [${RULES}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - { series: 'up{job="sealoop",instance="worker"}', values: '1x30' }
      - { series: 'sealoop_database_up', values: '1x30' }
      - { series: 'sealoop_outbox_age_seconds', values: '0+60x30' }
      - { series: 'sealoop_sealing_held', values: '0x30' }
      - { series: 'sealoop_devices{state="online"}', values: '7x30' }
      - { series: 'sealoop_devices{state="offline"}', values: '3x30' }
      - { series: 'sealoop_calls_total{outcome="success",operation="a"}', values: '0+60x30' }
      - { series: 'sealoop_calls_total{outcome="failed",operation="a"}', values: '0+1x30' }
    alert_rule_test:
      - eval_time: 5m
        alertname: SealoopSealingSlow
        exp_alerts:
          - exp_labels: { severity: critical }
            exp_annotations:
              summary: A request to seal waits for 5m 0s
              look: The sequencer, and GET /v1/status
      - { eval_time: 5m, alertname: SealoopProcessDown, exp_alerts: [] }
      - { eval_time: 20m, alertname: SealoopCallsFail, exp_alerts: [] }
      - { eval_time: 20m, alertname: SealoopNoFigures, exp_alerts: [] }
      - eval_time: 20m
        alertname: SealoopDevicesOffline
        exp_alerts:
          - exp_labels: { severity: warning }
            exp_annotations: { summary: 3 devices are offline, look: GET /v1/devices }
`;

describe("the rules and metrics, by promtool", function () {
  this.timeout(600_000);
  let folder: string;
  before(async function () {
    folder = await testFolder();
    const missing = await unpackDebian(["prometheus"], folder);
    if (missing === undefined) return;
    skipSuite(this, missing);
  });

  const promtool = (...args: string[]) =>
    promisify(execFile)(join(folder, "usr", "bin", "promtool"), args);

  it("are rules, and fire where they have to alone", async () => {
    await promtool("check", "rules", "--lint-fatal", RULES);
    const path = join(folder, "scenario.yaml");
    await writeFile(path, SCENARIO);
    await promtool("test", "rules", path);
  });

  it("are metrics without a fault of form", async () => {
    useProcessMetrics("gateway", "0.1.0");
    usePlatformMetrics(() =>
      Promise.resolve({
        receipts: 3,
        waiting: 1,
        oldestWaiting: "7",
        refusedSeals: 0,
        isSealingHeld: false,
        checkpointAgeSeconds: 4,
        checkpointSize: 2,
        counts: [{ kind: "devices", state: "online", n: 2 }],
      })
    );
    countCall({ operation: "a.b", door: "rest", effect: "read", outcome: "success", seconds: 0.1 });
    countDecision("allow", "run");
    countLoop("sealed");
    countModelUse({
      provider: "openai",
      outcome: "answered",
      inputTokens: 1,
      outputTokens: 2,
      costMicro: 3,
    });
    const text = (await renderMetrics()).split("\n")
      .filter((line) => !/\bnodejs_|\bprocess_/.test(line)).join("\n"); // of the library
    const child = execFile(join(folder, "usr", "bin", "promtool"), ["check", "metrics"]);
    let problems = "";
    child.stderr!.on("data", (chunk) => problems += chunk);
    child.stdin!.end(`${text}\n`);
    const [code] = await once(child, "close");
    assert.deepEqual([code, problems], [0, ""]);
    assert.match(text, /^sealoop_checkpoint_behind 1$/m);
    assert.match(text, /^sealoop_devices\{state="offline"\} 0$/m);
  });
});
