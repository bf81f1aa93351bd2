import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createHeldCallRunner } from "../../calls/held_calls/mod.ts";
import { registry } from "../../operations/mod.ts";
import { openPlatform } from "../../processes/mod.ts";
import {
  addLearningItems,
  getHeldCall,
  getLearningItem,
  getTicket,
  HOLDER_LOCK,
  issueKey,
  listWebhooks,
  putApproval,
  putHeldCall,
  recordFindings,
} from "../../store/mod.ts";
import { createLog } from "../../web/mod.ts";
import { setGovernance } from "../_governance.ts";
import { program } from "../_programs.ts";
import { openParts } from "../workflows/_loop.ts";
import { eventually } from "../_time.ts";
import type { KilledCall, Moment } from "./_killed_operation.ts";
import { actionOf, sha256 } from "../../calls/approvals/mod.ts";
import { settleLostCalls } from "../../calls/recover/mod.ts";
import type { Platform } from "../../calls/mod.ts";

const TOKEN = "a-token-that-others-share-0123456789";
const FINGERPRINT = "1d0f6a2b9c3e4857";

describe("an operation's call whose process is killed", function () {
  this.timeout(120_000);
  let parts: Awaited<ReturnType<typeof openParts>>; // no worker: what is started does not begin
  let platform: Platform;
  let close: () => Promise<void>;
  let key: Awaited<ReturnType<typeof issueKey>>;
  before(async () => {
    parts = await openParts();
    const { database, config } = parts;
    const databaseUrl = () => database.urls.app;
    const open = await openPlatform({ config, log: createLog("test", "silent"), databaseUrl });
    close = open.close;
    platform = { ...open.platform, temporal: () => Promise.resolve(parts.client) };
    key = await issueKey(platform.store.asPlatform(), {
      tenant: "test",
      tier: "admin",
      scope: "full",
      principal: "agent",
      mayApprove: false,
      expiresAt: null,
    });
    await setGovernance(platform.store, {
      rules: [{ name: "all", when: { tools: ["*"] }, then: "allow", guardrails: false }],
    });
    await recordFindings(platform.store.asPlatform(), [{
      fingerprint: FINGERPRINT,
      root: FINGERPRINT,
      detector: "security_scan",
      service: null,
      host: null,
      kind: "platform",
      code: "file_permissions",
      severity: "high",
      summary: "Others may read ledger.key",
      detail: {},
      target: {},
    }]);
  });
  after(async () => {
    await close?.();
    await parts?.close();
  });

  const holders = async () => {
    const { rows: [{ n }] } = await platform.store.pool.query(
      `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND classid = $1
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [HOLDER_LOCK],
    );
    return n;
  };
  const killed = async (call: KilledCall) => {
    const before = await holders();
    const file = await program("test/calls/_killed_operation.ts");
    const child = spawn(process.execPath, [file, JSON.stringify(call)], {
      env: {
        PATH: process.env.PATH,
        APP_URL: parts.database.urls.app,
        SEALOOP_DATA: parts.config.dataDir,
        SEALOOP_A2A_TOKEN: TOKEN,
        TEMPORAL_ADDRESS: parts.place.address,
        TEMPORAL_NAMESPACE: parts.place.namespace,
      },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const [, signal] = await once(child, "exit");
    assert.equal(signal, "SIGKILL");
    await eventually(async () => (await holders()) === before || undefined); // its connection ends a moment later
  };
  const receiptOf = async (id: string) => {
    const { rows: [row] } = await platform.store.pool.query(
      "SELECT payload FROM seal_outbox WHERE id = $1",
      [id],
    );
    return row && JSON.parse(row.payload);
  };
  /** What is sealed of the call, as some minutes later. */
  const settled = async () => {
    const decision = await platform.store.asPlatform().first(
      "UPDATE governance_decisions SET at = now() - interval '5 minutes' WHERE NOT settled RETURNING call_receipt_id",
    );
    assert.ok(decision, "its end is not known");
    const settle = () => settleLostCalls(platform);
    await eventually(async () => (await settle()) === 1 || undefined);
    assert.equal(await settle(), 0);
    return await receiptOf(decision.call_receipt_id);
  };
  const people = async () =>
    (await platform.store.asPlatform().query("SELECT FROM tickets WHERE escalated")).length;

  const openTicket = async () => {
    const create = registry.get("tickets.create")!;
    const call = { caller: { keyId: key.record.id }, door: "mcp", progress() {} };
    const input = { title: "Printer jams", description: "", severity: "low" };
    return await create.run(input, { ...platform, ...call } as never) as { ticket_id: string };
  };
  const running = async () => {
    const test = registry.get("itsm.test")!;
    const signal = new AbortController().signal;
    const call = { caller: { keyId: key.record.id }, door: "rest", signal, progress() {} };
    const input = { scenario: "crash" };
    return await test.run(input, { ...platform, ...call } as never) as { workflow_id: string };
  };
  const learnt = async (id: string) => {
    const { ticket_id } = await openTicket();
    const text = "Printer jams\nResolution: Turned the roller";
    await addLearningItems(platform.store.asPlatform(), [{
      id,
      ticket_id,
      title: "Printer jams",
      category: "hardware",
      score: 60,
      factors: [],
      passage: {
        id: ticket_id,
        kind: "incident",
        category: "hardware",
        title: "Printer jams",
        content: text,
        sha256: sha256(text),
        fault: null,
        terms: { printer: 1 },
        indexed: sha256("printer"),
      },
      state: "queued",
      receipt_id: null,
    }]);
    return id;
  };

  type Case = {
    readonly operation: string;
    readonly as: string;
    readonly door?: KilledCall["door"];
    readonly input: () => Promise<unknown>;
    /** What it makes, by the receipt's `found`. */
    readonly done: (found: Record<string, string>, input: never) => Promise<unknown>;
    readonly moments?: readonly Moment[];
  };
  const run = async (found: Record<string, string>, pattern: RegExp) => {
    assert.match(found.workflow_id!, pattern);
    const handle = parts.client.workflow.getHandle(found.workflow_id!, found.run_id!);
    assert.equal((await handle.describe()).status.name, "RUNNING");
  };
  const shared = ["before", "between", "after"] as const;
  let n = 0;
  const message = () => ({ messageId: `m-${++n}`, parts: [{ kind: "text", text: "It is down" }] });
  const cases: readonly Case[] = [
    {
      operation: "crew.dispatch",
      as: "dispatch_crew_incident",
      input: () => Promise.resolve({ incident: "billing is down" }),
      done: (found) => run(found, /^crew-\w{12}$/),
    },
    {
      operation: "reasoning.invoke",
      as: "invoke_reasoning_pipeline",
      input: () => Promise.resolve({ prompt: "What is down?" }),
      done: (found) => run(found, /^reasoning-\w{12}$/),
    },
    {
      operation: "security.approve",
      as: "approve_sie_finding",
      moments: shared,
      input: () => Promise.resolve({ index: 0, fingerprint: FINGERPRINT }),
      done: (found) => run(found, new RegExp(`^loop-${FINGERPRINT}$`)),
    },
    {
      operation: "security.scan",
      as: "trigger_sie_scan",
      moments: shared,
      input: () => Promise.resolve({}),
      done: (found) => run(found, /^security-scan$/),
    },
    {
      operation: "a2a.dispatch",
      as: "a2a_dispatch",
      door: "rest",
      moments: shared,
      input: () => Promise.resolve(message()),
      done: (found) => run(found, /^crew-\w{16}$/),
    },
    {
      operation: "a2a.receive",
      as: "a2a_receive",
      door: "rest",
      moments: shared,
      input: () => Promise.resolve(message()),
      done: ({ task_id }) => parts.client.workflow.getHandle(`a2a-${task_id}`).describe(),
    },
    {
      operation: "workflows.cancel",
      as: "workflow_cancel",
      door: "rest",
      input: async () => ({ workflow_id: (await running()).workflow_id }),
      done: async ({ workflow_id }, input: { workflow_id: string }) => {
        assert.equal(workflow_id, input.workflow_id);
        const { raw } = await parts.client.workflow.getHandle(workflow_id!).describe();
        assert.ok(raw.workflowExtendedInfo?.cancelRequested);
      },
    },
    {
      operation: "tickets.close",
      as: "itsm_close_ticket",
      input: async () => ({
        ticket_id: (await openTicket()).ticket_id,
        resolution: "Turned the roller",
      }),
      done: async ({ ticket_id }) => {
        const ticket = await getTicket(platform.store.asPlatform(), ticket_id!);
        assert.equal(ticket?.resolution, "Turned the roller");
      },
    },
    {
      operation: "webhooks.register",
      as: "itsm_register_webhook",
      input: () => Promise.resolve({ url: `https://hooks.example.com/${++n}` }),
      done: async ({ webhook_id }) => {
        const all = await listWebhooks(platform.store.asPlatform(), "test");
        assert.ok(all.some(({ id }) => id === webhook_id));
      },
    },
    {
      operation: "learning.approve",
      as: "approve_learning_item",
      input: async () => ({ item_id: await learnt(`LRN-00000000000${++n % 10}`) }),
      done: async ({ item_id }) => {
        assert.equal(
          (await getLearningItem(platform.store.asPlatform(), item_id!))?.state,
          "applied",
        );
      },
    },
  ];
  for (const { operation, as, door = "mcp", input, done, moments } of cases) {
    for (const moment of moments ?? ["before", "after"] as const) {
      const outcome = moment === "after" ? "success" : "not_done";
      it(`${moment}, is proven to be ${outcome}: ${operation}`, async () => {
        const asked = await people();
        const sent = await input();
        const who = operation.startsWith("a2a.") ? { token: TOKEN } : { credential: key.key };
        await killed({ moment, operation, door, as, input: sent, ...who });
        const { outcome: sealed, action, details } = await settled();
        assert.deepEqual([sealed, action], [outcome, operation]);
        assert.equal(await people(), asked, "nobody is asked to look");
        if (moment === "after") await done(details.found, sent as never);
        else assert.equal(details.found, undefined);
      });
    }
  }

  for (const moment of shared) {
    const state = moment === "after" ? "done" : "refused";
    it(`${moment}, once people have approved it, is ${state}, with the result where there is one`, async () => {
      const { store } = platform;
      const approvalId = `APR-00000000000${shared.indexOf(moment)}`;
      const operation = registry.get("security.approve")!;
      const input = { index: shared.indexOf(moment), fingerprint: FINGERPRINT, wait_seconds: 0 };
      const as = "approve_sie_finding";
      const caller = { keyId: key.record.id, tenant: "test" };
      const { action, text } = actionOf({ operation, request: { as }, caller, input } as never);
      await putApproval(store.asPlatform(), {
        id: approvalId,
        subject: `tool:${as}`,
        ticketId: null,
        description: "",
        action,
        actionSha256: sha256(text),
        requestedBy: "agent",
        requestedByKey: key.record.id,
        needed: 1,
        expiresInSeconds: 60,
        escalateAfterSeconds: 0,
        askingRun: null,
      });
      await store.asPlatform().execute(
        "UPDATE approvals SET status = 'approved', decided_at = now() WHERE id = $1",
        [approvalId],
      );
      await putHeldCall(store.asPlatform(), {
        approvalId,
        decisionId: `GOV-00000000000${shared.indexOf(moment)}`,
        door: "mcp",
        tool: as,
        operation: operation.name,
        input: JSON.stringify(input),
        actionSha256: sha256(text),
        tenant: "test",
        keyId: key.record.id,
        address: "127.0.0.1",
      });
      await killed({ moment, operation: operation.name, door: "mcp", as, input, approvalId });
      const result = await createHeldCallRunner(platform)({
        approvalId,
        run: { workflow_id: `act-${approvalId}`, run_id: "first" },
        intentReceiptId: `${approvalId}-intent`,
        outcomeReceiptId: `${approvalId}-outcome`,
      });
      assert.equal(result.state, state);
      const { output, error } = (await getHeldCall(store.asPlatform(), approvalId))!;
      if (moment === "after") {
        const { status, workflow_id, finding } = JSON.parse(output!);
        assert.deepEqual([status, workflow_id, finding.fingerprint, finding.index], [
          "RUNNING",
          `loop-${FINGERPRINT}`,
          FINGERPRINT,
          0,
        ]);
      } else assert.match(error!.message, /before it did anything, which is proven/);
    });
  }
});
