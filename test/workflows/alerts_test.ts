import assert from "node:assert/strict";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import type { itsmLoop, itsmSweep } from "../../workflows/mod.ts";
import { startAlertmanager, type TestAlertmanager } from "../judgement/detection/_alertmanager.ts";
import { asSuperuser } from "../_superuser.ts";
import { putAlertedService, SHOP_RULES, writeAlertRules } from "./_alerted_service.ts";
import { openLoop, type TestLoop, type Watch } from "./_loop.ts";
import { readTicketRecord } from "./_ticket_record.ts";

const INSTANCE = 'it\'s "here".*';
const MAX_MS = 15 * 60_000;

describe("The loop of an alert", () => {
  let loop: TestLoop;
  let alertmanager: TestAlertmanager;
  let watch: Watch = () => {};
  let labels: { readonly alertname: string; readonly job: string; readonly instance: string };
  let services = 0;

  before(async () => {
    alertmanager = await startAlertmanager();
    loop = await openLoop({
      watch: (...seen) => watch(...seen),
      settings: {
        SEALOOP_DETECTORS: await writeAlertRules(SHOP_RULES),
        SEALOOP_ALERTMANAGER_URL: alertmanager.url,
      },
    });
  });
  beforeEach(async () => {
    watch = () => {};
    alertmanager.hostile = () => false;
    alertmanager.silences = [];
    // One after the other, as the guardrails ask people about one service that is repaired again and again.
    labels = { alertname: "ShopDown", job: `shop-${++services}`, instance: INSTANCE };
    alertmanager.alerts = [{ labels }];
    await putAlertedService(loop.store, labels.job);
    await asSuperuser(loop.store).execute("TRUNCATE tickets, findings CASCADE");
  });
  after(async () => {
    await loop?.stop();
    await alertmanager.stop();
  });

  let sweeps = 0;
  const sweep = async () =>
    await loop.client.workflow.execute<typeof itsmSweep>(WORKFLOW.itsmSweep, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `sweep-${++sweeps}`,
      args: ["key:test"],
    });
  const run = async () => {
    let result = await sweep();
    // Sweeps of the same second share one reading, which may be that of the test before.
    while (result.outcome === "clear") result = await sweep();
    return { ...result, ...await readTicketRecord(loop.store, result.ticket_id!) };
  };
  /** Does something as the verification begins. */
  const atVerification = (work: (workflowId: string) => Promise<void> | void) => {
    watch = async (moment, activity, [order]) => {
      if (moment !== "before" || activity !== "verify") return;
      await work((order as { run: { workflow_id: string } }).run.workflow_id);
    };
  };
  const resolve = () => atVerification(() => void (alertmanager.alerts = []));
  const silencesOf = ({ receipts }: Awaited<ReturnType<typeof run>>) =>
    receipts.filter(({ category }) => category.startsWith("silence_"))
      .map(({ action, outcome }) => `${action} ${outcome}`);

  it("silences exactly its alerts from the repair to the proof, for 15 minutes at most", async () => {
    let active = 0;
    atVerification(() => {
      active = alertmanager.silences.filter(({ state }) => state === "active").length;
      alertmanager.alerts = [];
    });
    const ended = await run();
    assert.equal(ended.outcome, "sealed");
    assert.equal(active, 1);
    const [silence, ...others] = alertmanager.silences;
    assert.deepEqual(others, []);
    assert.equal(silence!.state, "expired");
    assert.deepEqual(
      silence!.matchers,
      Object.entries(labels)
        .map(([name, value]) => ({ name, value, isRegex: false, isEqual: true })),
    );
    const lifetimeMs = Date.parse(silence!.endsAt) - Date.parse(silence!.startsAt);
    assert.ok(lifetimeMs > 0 && lifetimeMs <= MAX_MS);
    assert.match(silence!.comment, new RegExp(ended.ticket_id!));
    assert.deepEqual(silencesOf(ended), [
      "silence intended",
      "silence done",
      "lift intended",
      "lift done",
    ]);
    assert.doesNotMatch(JSON.stringify(ended.receipts), /instance|here/);
  });

  it("looks for a silence whose answer was lost, and never sets it twice", async () => {
    alertmanager.hostile = ({ method }, response) => {
      if (method === "POST") response.destroy();
      return method === "POST";
    };
    resolve();
    const ended = await run();
    assert.equal(ended.outcome, "sealed");
    assert.deepEqual(alertmanager.silences.map(({ state }) => state), ["expired"]);
    assert.equal(silencesOf(ended)[1], "silence done");
  });

  it("goes on without a silence where it is refused", async () => {
    alertmanager.hostile = ({ method }, response) => {
      if (method !== "POST") return false;
      alertmanager.silences = [];
      return !!response.writeHead(403).end();
    };
    resolve();
    const ended = await run();
    assert.equal(ended.outcome, "sealed");
    assert.deepEqual(silencesOf(ended), ["silence intended", "silence not_done"]);
  });

  it("looks for the silence of an attempt that was killed, and sets no other", async () => {
    let attempts = 0;
    watch = (moment, activity) => {
      if (moment === "before" && activity === "verify") alertmanager.alerts = [];
      if (moment === "after" && activity === "remediate" && ++attempts === 1) {
        throw new Error("Its worker was killed");
      }
    };
    const ended = await run();
    assert.deepEqual([ended.outcome, attempts], ["sealed", 2]);
    assert.deepEqual(alertmanager.silences.map(({ state }) => state), ["expired"]);
  });

  it("lifts the silence when it is cancelled", async () => {
    atVerification(async (id) => {
      await loop.client.workflow.getHandle<typeof itsmLoop>(id).cancel();
    });
    await assert.rejects(run());
    assert.deepEqual(alertmanager.silences.map(({ state }) => state), ["expired"]);
  });

  it("repairs nothing for an alert that nobody can map, and tells people how to", async () => {
    alertmanager.alerts = [{ labels: { alertname: "Odd", job: labels.job } }];
    const { outcome, ticket, effects } = await run();
    assert.equal(outcome, "escalated");
    assert.deepEqual([ticket.service, ticket.escalated, effects.length], [null, true, 0]);
    assert.match(ticket.title, /^No rule maps the alert Odd /);
    assert.match(ticket.description, /^What mends it: a rule in `alerts` of the detectors' file/);
    assert.deepEqual(alertmanager.silences, []);
  });

  it("is left to people after one repair where Alertmanager is away, as nothing is proven", async () => {
    atVerification(() => {
      alertmanager.hostile = (_, response) => !!response.writeHead(503).end();
    });
    const { outcome, receipts, effects } = await run();
    assert.equal(outcome, "escalated");
    const { reason, verified } =
      receipts.find(({ category }) => category === "escalation")!.details;
    assert.deepEqual([reason, verified], [
      "not_proven",
      { healthy: false, code: "alerts_unknown" },
    ]);
    assert.equal(effects.length, 1);
    assert.equal(
      silencesOf({ receipts } as Awaited<ReturnType<typeof run>>).at(-1),
      "lift unknown",
    );
  });
});
