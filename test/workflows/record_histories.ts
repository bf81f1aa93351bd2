/**
 * Records the histories that the replay test replays, on the real servers: `npm run histories`. With arguments,
 * those of these names alone.
 */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkflowHandle } from "@temporalio/client";
import { bindAction } from "../../calls/approvals/mod.ts";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import {
  type ApprovalRequest,
  nowSignal,
  progressQuery,
  routineId,
  type RoutineName,
  ROUTINES,
  TASK_QUEUE,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { createWebhookSecret, openSecretBox } from "../../integrations/webhooks/mod.ts";
import { canonicalize } from "../../ledger/mod.ts";
import { getApproval, putHeldCall, type VoteMove } from "../../store/approvals/mod.ts";
import { addMessage, addPlannedDeliveries } from "../../store/notices/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { workerCodec } from "../../runtime/temporal/mod.ts";
import { startOutsideSystems } from "../operations/integrations/_outside_systems.ts";
import { articleScenarios } from "./_article_scenarios.ts";
import { commandScenarios } from "./_command_scenarios.ts";
import type { anchorReceipts } from "../../workflows/mod.ts";
import { freePort, mochaGlobalTeardown } from "../_run.ts";
import { eventually } from "../_time.ts";
import { TEST_NETWORK } from "../ledger/anchors/ots/_chain.ts";
import { startBitcoinServers } from "../ledger/anchors/ots/_servers.ts";
import { type BrokenService, heldRestart, startBrokenService } from "./_broken_service.ts";
import { HISTORIES, printHistory } from "./_histories.ts";
import { openLoop, type TestLoop, type Watch } from "./_loop.ts";
import { EXPIRES_SECONDS, loopScenarios, writeRecorderRunbooks } from "./_loop_scenarios.ts";
import { mediaScenarios } from "./_media_scenarios.ts";
import { mailScenarios, writeRecorderSequences } from "./_mail_scenarios.ts";
import { createApprover, vote } from "./_people.ts";
import { currentDetails } from "./_routine.ts";
import { killEffect } from "./_runbooks.ts";
import { startMastodon } from "../operations/integrations/_mastodon.ts";
import { outsideScenarios } from "./_outside_scenarios.ts";
import { publishScenarios } from "./_publish_scenarios.ts";
import { taskScenarios } from "./_task_scenarios.ts";
import { readTicketRecord } from "./_ticket_record.ts";
import { putWebhook } from "../../store/webhooks/mod.ts";

let watch: Watch = () => {};
const world = await startBitcoinServers();
const outside = await startOutsideSystems();
const mastodon = await startMastodon("recorder");
const sitePort = await freePort();
const loop: TestLoop = await openLoop({
  watch: (...seen) => watch(...seen),
  settings: {
    ...world.settings,
    SEALOOP_PLACE: "recorder.example.net",
    SEALOOP_OUTBOUND_ALLOW: "127.0.0.0/8",
    SEALOOP_WEBHOOK_PAUSES: "1",
    SEALOOP_MAIL_PORT: String(await freePort()),
    SEALOOP_SMTP_PAUSES: "1,1,1",
    SEALOOP_N8N_URL: outside.url,
    SEALOOP_ACT_WAIT_SECONDS: "2",
    SEALOOP_MASTODON_URL: mastodon.url,
    SEALOOP_CREDENTIALS: '{"n8n":"recorder","mastodon":"recorder"}',
    SEALOOP_ARTICLES_URL: `http://127.0.0.1:${sitePort}/articles`,
    SEALOOP_IMAP_URL: "imap://robot@127.0.0.1:9",
    SEALOOP_MAIL: await writeRecorderSequences(),
    SEALOOP_RUNBOOKS: await writeRecorderRunbooks(),
    SEALOOP_APPROVAL_EXPIRES_SECONDS: String(EXPIRES_SECONDS),
  },
  network: TEST_NETWORK,
});
const brokenServices: BrokenService[] = [];
/** Platforms with a model, to be stopped at the end. */
const writers: TestLoop[] = [];

/** Scenarios by the names of their files. Each returns its run, which may still go on. */
const SCENARIOS: Readonly<Record<string, () => Promise<WorkflowHandle>>> = {
  "itsmLoop.not_healed": async () =>
    await ended(await heal(await broken("in-vain", () => ({ command: ["true"] })))),
  "itsmLoop.resolved": async () => await ended(await heal(await broken("resolved"))),
  "itsmLoop.clear": async () => {
    const { service } = await broken("clear");
    const finding = {
      ...await createServiceFinding(loop.store, service, "refused"),
      requested_by: "key:recorder",
    };
    await putService(loop.store.asPlatform(), { ...service, check: null });
    return await ended(await start(WORKFLOW.itsmLoop, `loop-${finding.fingerprint}`, [finding]));
  },
  "itsmLoop.place_away": async () => {
    const { service } = await broken("away");
    const finding = {
      ...await createServiceFinding(loop.store, service, "refused"),
      place: "nowhere.example.net",
    };
    return await ended(await start(WORKFLOW.itsmLoop, `loop-${finding.fingerprint}`, [finding]));
  },
  "itsmLoop.no_runbook": async () => await ended(await heal(await broken("bare", () => null))),
  "itsmLoop.outdated": async () => {
    const { service } = await broken("changed");
    const { command } = (service.restart as { process: { command: string[] } }).process;
    const restart = { process: { command: [...command, "again"] } };
    watch = async (moment, activity) => {
      if (moment !== "before" || activity !== "remediate") return;
      await putService(loop.store.asPlatform(), { ...service, restart });
    };
    return await ended(await heal({ service }));
  },
  "itsmLoop.cancelled": async () => {
    const faulty = await broken("cancelled", heldRestart);
    const run = await heal(faulty);
    await repairing(run);
    await run.cancel();
    await run.query(progressQuery); // when it answers, it has seen the cancellation
    await faulty.release();
    return await ended(run);
  },
  "itsmLoop.unknown_effect": async () => {
    const run = await heal(await broken("unknown", heldRestart));
    const { effectId } = await repairing(run);
    await killEffect(loop.config.dataDir, effectId);
    return await ended(run);
  },
  "reconcileRuns.ended_run": async () => {
    const faulty = await broken("terminated", heldRestart);
    const run = await heal(faulty);
    await repairing(run);
    await run.terminate("by hand");
    const reconciled = await ended(await start(WORKFLOW.reconcileRuns, "reconcile", []));
    await faulty.release();
    return reconciled;
  },
  "itsmSweep.found": async () => {
    const { service } = await broken("found", () => null, true);
    const run = await ended(await start(WORKFLOW.itsmSweep, "sweep", []));
    await loop.client.workflow.getHandle(
      `loop-${(await createServiceFinding(loop.store, service, "refused")).fingerprint}`,
    )
      .result();
    return run;
  },
  "itsmSweep.left_to_people": async () => {
    const run = await ended(await start(WORKFLOW.itsmSweep, "sweep-again", []));
    for (const faulty of brokenServices) if (faulty.service.watched) await faulty.remove();
    return run;
  },
  "itsmSweep.joined": async () => {
    const faulty = await broken("joined", heldRestart, true);
    const run = await heal(faulty);
    await repairing(run);
    const sweep = await ended(await start(WORKFLOW.itsmSweep, "sweep-joined", []));
    await faulty.release();
    await ended(run);
    await faulty.remove();
    return sweep;
  },
  "itsmSweep.asked": async () => {
    await broken("asked", undefined, true);
    return await ended(await start(WORKFLOW.itsmSweep, "sweep-asked", ["key:recorder"]));
  },
  "itsmSweep.nothing": async () =>
    await ended(await start(WORKFLOW.itsmSweep, "sweep-nothing", ["key:recorder"])),
  "itsmTest.crash": async () => {
    const request = { id: "0a1b2c3d", scenario: "crash", requested_by: "key:recorder" };
    return await ended(await start(WORKFLOW.itsmTest, "test-0a1b2c3d", [request]));
  },
  "attackSimulation.ransomware": async () => {
    const request = { id: "0a1b2c3e", scenario: "ransomware", requested_by: "key:recorder" };
    return await ended(await start(WORKFLOW.attackSimulation, "attack-0a1b2c3e", [request]));
  },
  "itsmTest.cancelled": async () => {
    const request = { id: "0a1b2c3e", scenario: "hang", requested_by: "key:recorder" };
    const run = await start(WORKFLOW.itsmTest, "test-0a1b2c3e", [request]);
    watch = async (moment, activity) => {
      if (moment === "before" && activity === "breakTestService") await run.cancel();
    };
    return await ended(run);
  },
  "securityScan.scanned": async () =>
    await ended(await start(WORKFLOW.securityScan, "security-scan-recorded", [])),
  "deviceDiscovery.found": async () => {
    const request = { targets: ["127.0.0.1"], ports: [1], requested_by: "key:recorder" };
    return await ended(await start(WORKFLOW.deviceDiscovery, "discover-0a1b2c3d", [request]));
  },
  "tenantSync.synced": async () =>
    await ended(await start(WORKFLOW.tenantSync, "tenants-sync-recorded", [{}])),
  "approval.approved": async () => {
    const run = await asked("a1", { needed: 2, escalate_after_seconds: 1 });
    await speak(run, "approved", "ann");
    await sleep(2_000); // it is escalated
    await speak(run, "approved", "bob");
    return await ended(run);
  },
  "approval.denied": async () => {
    const run = await asked("a2");
    await speak(run, "denied", "ann");
    return await ended(run);
  },
  "approval.expired": async () => await ended(await asked("a3", { expires_in_seconds: 1 })),
  "approval.reopened": async () => {
    const run = await asked("a3", { reopens: { status: "expired", moves: 2 } });
    await speak(run, "reopened", "ann");
    await speak(run, "approved", "ann");
    return await ended(run);
  },
  "approval.cancelled_in_vain": async () => {
    const run = await asked("a5");
    await run.cancel();
    await speak(run, "approved", "ann");
    return await ended(run);
  },
  "approval.resumes_loop": async () => {
    const { service } = await broken("approved-late");
    const asking_run = {
      workflow_id: "loop-gone",
      run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10",
      finding: await createServiceFinding(loop.store, service, "refused"),
    };
    const run = await asked("a4", { asking_run });
    await speak(run, "approved", "ann");
    await ended(run);
    await ended(loop.client.workflow.getHandle("loop-gone"));
    return run;
  },
  "approval.acts": async () => {
    const run = await asked("a6", { acts: true });
    await speak(run, "approved", "ann");
    return await ended(run);
  },
  "governedAct.refused": async () => {
    const approval_id = await held("a7"); // its key was never issued
    return await ended(await start(WORKFLOW.governedAct, `act-${approval_id}`, [{ approval_id }]));
  },
  "webhookDelivery.delivered": async () => {
    const server = createServer((_, res) => res.end()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const run = await delivery((server.address() as AddressInfo).port);
    await ended(run);
    server.close();
    return run;
  },
  "webhookDelivery.given_up": async () => await ended(await delivery(9)),
  "relay.running": async () => {
    const run = await start(WORKFLOW.relay, "relay", []);
    await sleep(500);
    return run;
  },
  "notice.escalated": async () => {
    const server = createServer((_, res) => res.end()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const run = await notice((server.address() as AddressInfo).port);
    await ended(run);
    server.close();
    return run;
  },
  "tellDue.nothing": async () => await ended(await start(WORKFLOW.tellDue, "notices", [])),
  ...Object.fromEntries(ROUTINES.map((name) => [`routine.${name}`, () => routine(name)])),
  "anchorReceipts.made": async () => {
    await sealed("anchored");
    return await ended(await start(WORKFLOW.anchorReceipts, "anchor", []));
  },
  "anchorReceipts.running": async () =>
    await ended(await start(WORKFLOW.anchorReceipts, "anchor-again", [])),
  "anchorBatch.confirmed": async () => {
    const { anchors } = await loop.client.workflow.execute<typeof anchorReceipts>(
      WORKFLOW.anchorReceipts,
      {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: "anchor-more",
        args: [],
      },
    );
    await sleep(2_000); // the calendar is asked, and the run has to wait
    world.confirmAll();
    return await ended(loop.client.workflow.getHandle(anchors.at(-1)!));
  },
  "crew.diagnosed": async () => {
    const { service } = await broken("diagnosed");
    const incident = `${service.name} is down`;
    return await ended(
      await start(WORKFLOW.crew, "crew-1", [{ incident, requested_by: "key:recorder" }]),
    );
  },
  ...taskScenarios(loop, writers, { start, ended, speak, held }),
  "scrubLedger.pass": async () => await ended(await start(WORKFLOW.scrubLedger, "scrub", [])),
  "ledgerSequencer.running": () =>
    Promise.resolve(loop.client.workflow.getHandle("ledger-sequencer")),
  ...mailScenarios(loop, { ended, speak }),
  ...commandScenarios(loop, { ended, speak }),
  ...outsideScenarios(loop, outside, ended),
  ...articleScenarios(loop, sitePort, { ended, speak }),
  ...mediaScenarios(loop),
  ...publishScenarios(loop, { ended, speak }),
  ...loopScenarios(loop, brokenServices),
};

try {
  const names = process.argv.slice(2);
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    watch = () => {};
    const run = await scenario();
    const history = await run.fetchHistory();
    const { store } = [loop, ...writers].find(({ client }) => client.workflow === run.client)!;
    const text = await printHistory(history, workerCodec(store));
    await writeFile(new URL(`${name}.json`, HISTORIES), text);
    console.log(`${name}: ${history.events?.length} events`);
  }
} finally {
  for (const faulty of brokenServices) await faulty.remove();
  world.stop();
  outside.close();
  mastodon.close();
  for (const one of [loop, ...writers]) await one.stop();
  await mochaGlobalTeardown();
}
process.exit(); // the SDK's connections would keep the process running

async function broken(
  name: string,
  runbook?: Parameters<typeof startBrokenService>[1]["runbook"],
  watched?: boolean,
): Promise<BrokenService> {
  const place = { store: loop.store, dataDir: loop.config.dataDir };
  const faulty = await startBrokenService(place, { name, runbook, watched });
  brokenServices.push(faulty);
  return faulty;
}

async function start(type: string, workflowId: string, args: unknown[]): Promise<WorkflowHandle> {
  return await loop.client.workflow.start(type, { taskQueue: TASK_QUEUE.itsm, workflowId, args });
}

/** Starts a routine that has been asked for its work once, and goes on. */
async function routine(name: RoutineName): Promise<WorkflowHandle> {
  const run = await start(WORKFLOW.routine, routineId(name), [{ name, every_seconds: 86_400 }]);
  await run.signal(nowSignal);
  await eventually(async () => (await currentDetails(run)).includes("**last**") ? true : undefined);
  return run;
}

/** Holds a call until people decide. @returns id of the approval */
async function held(name: string): Promise<string> {
  const approvalId = (await asked(name)).workflowId.slice("approval-".length);
  await eventually(async () =>
    await getApproval(loop.store.asPlatform(), approvalId) ? true : undefined
  );
  await putHeldCall(loop.store.asPlatform(), {
    approvalId,
    decisionId: "GOV-000000000000",
    door: "a2a",
    operation: "reasoning.invoke",
    tool: "invoke_reasoning_pipeline",
    input: "{}",
    actionSha256: name.padEnd(64, "0"),
    keyId: "recorder",
    address: "127.0.0.1",
  });
  return approvalId;
}

async function asked(
  name: string,
  fields: Partial<ApprovalRequest> = {},
): Promise<WorkflowHandle> {
  const approval_id = `APR-${name.padEnd(12, "0")}`;
  const terms = { needed: 1, expires_in_seconds: 3_600, escalate_after_seconds: 0 };
  const action = { name };
  const action_sha256 = bindAction(action, canonicalize(action)).actionSha256;
  const about = { subject: "recorder", action, action_sha256 };
  const request: ApprovalRequest = {
    approval_id,
    ...about,
    requested_by: "program",
    ...terms,
    ...fields,
  };
  return await start(WORKFLOW.approval, `approval-${approval_id}`, [request]);
}

/** Queues a message for a server on this port, and starts its delivery. */
async function delivery(port: number): Promise<WorkflowHandle> {
  const db = loop.store.asPlatform();
  const box = openSecretBox(loop.config);
  const url = `http://127.0.0.1:${port}/`;
  const secret = box.seal(createWebhookSecret(), url);
  const webhook_id = await putWebhook(db, {
    url,
    events: ["ticket.opened"],
    secret,
    createdBy: "recorder",
  });
  const id = `msg_${String(port).padStart(32, "0")}`;
  await db.execute(
    `INSERT INTO webhook_deliveries (id, webhook_id, ticket_id, type, body, started_at)
     VALUES ($1, $2, 'INC-000000000000', 'ticket.opened', '{}', now())`,
    [id, webhook_id],
  );
  return await start(WORKFLOW.webhookDelivery, `webhook-${id}`, [id]);
}

/** Tells of a message over a channel that can't be reached, then over one that can, and the latter again as escalation. */
async function notice(port: number): Promise<WorkflowHandle> {
  const webhook = (port: number) => `{ webhook: { url: "http://127.0.0.1:${port}" } }`;
  await writeFile(
    join(loop.config.dataDir, "sealoop.comms.yaml"),
    `platform: { channels: { away: ${webhook(9)}, hook: ${webhook(port)} } }`,
  );
  const one = { rule: "recorded", kind: "webhook", notBefore: null } as const;
  const id = await loop.store.asPlatform().transaction(async (trx) => {
    const message = { kind: "incident.opened", from: "recorder", subject: "", text: "" } as const;
    const id = (await addMessage(trx, message))!;
    await addPlannedDeliveries(trx, id, [
      { ...one, order: 1, channel: "away", escalatesAfterMinutes: null },
      { ...one, order: 1, channel: "hook", escalatesAfterMinutes: null },
      { ...one, order: 2, channel: "hook", escalatesAfterMinutes: 0.01 },
    ]);
    return id;
  });
  return await start(WORKFLOW.notice, `notice-${id}`, [id]);
}

async function speak(run: WorkflowHandle, move: VoteMove, who: string): Promise<void> {
  const id = run.workflowId.slice("approval-".length);
  await eventually(() => run.describe().catch(() => undefined)); // it may not have begun
  await vote(loop, id, move, await createApprover(loop.store, who));
}

async function sealed(id: string): Promise<void> {
  const fields = { category: "test", actor: "recorder", subject: "x", action: "record" };
  await loop.sealer.request({ id, ...fields, outcome: "ok" });
  await loop.sealer.sealed(id);
}

async function heal({ service }: Pick<BrokenService, "service">): Promise<WorkflowHandle> {
  const finding = await createServiceFinding(loop.store, service, "refused");
  return await start(WORKFLOW.itsmLoop, `loop-${finding.fingerprint}`, [finding]);
}

/** Waits for the end of a run, whatever it is. */
async function ended(run: WorkflowHandle): Promise<WorkflowHandle> {
  await run.result().catch(() => {});
  return run;
}

/** Waits until a repair has begun. */
async function repairing(run: WorkflowHandle): Promise<{ effectId: string }> {
  return await eventually(async () => {
    const { ticket_id } = await run.query(progressQuery);
    const [effect] = ticket_id ? (await readTicketRecord(loop.store, ticket_id)).effects : [];
    return effect && { effectId: effect.id };
  });
}
