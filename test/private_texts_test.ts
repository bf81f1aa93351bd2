import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../config.ts";
import { applyGovernanceText } from "../calls/governance/mod.ts";
import { issueSealedKey } from "../calls/mod.ts";
import { followPolicyFile } from "../judgement/guard/mod.ts";
import { exportReceipts, getHead } from "../ledger/mod.ts";
import { loadCatalogue, putInForce } from "../judgement/runbooks/mod.ts";
import { createLog } from "../runtime/web/mod.ts";
import { findLeaks, type Leak, listTexts } from "./_guesses.ts";
import { testFolder } from "./_run.ts";
import { openPeople, type People } from "./api/_people.ts";
import { a2aClient, message, skill } from "./mcp/_a2a.ts";
import { connect } from "./mcp/_tool_server.ts";
import { type BrokenService, startBrokenService } from "./workflows/_broken_service.ts";
import { storeAs } from "./_servers.ts";
import { asSuperuser } from "./_superuser.ts";

// deno-lint-ignore no-explicit-any -- whatever came over the wire
type Json = any;

/** Private texts that the run is about. Short ones are the easiest to guess. */
const PRIVATE = {
  tenant: "marlowe-shipping",
  principal: "Philippa Marlowe",
  approver: "Odo the harbour master",
  service: "asks-quayside",
  url: "https://93.184.215.14/hooks/quay-7",
  incident: "Crane 4 at the north quay has lost its position",
  loneIncident: "Somebody spilt coffee over the tide tables",
  title: "Weighbridge prints nonsense",
  description: "Since the update of the harbour office",
  resolution: "Rolled the weighbridge back",
  approvalText: "Before the Rotterdam run",
  command: "purge manifest 7781",
  requestId: "manifest-7781",
  report: "Container registry answers 500 to the customs desk",
  repair: "restart customs-gate on pier-12",
  question: "Which crane failed most often in spring?",
  agentQuestion: "Is asks-quayside the reason that tugs are late?",
  agentNote: "asks-quayside is slow at spring tide",
  ruleReason: "The harbour master wants to know",
  freezeReason: "Regatta weekend",
  stepName: "calm-the-crane",
  runbookTitle: "Calm a crane after an approval",
} as const;

const RUNBOOK = `
runbook: crane-calmer
version: 1.0.0
title: ${PRIVATE.runbookTitle}
about: It is restarted as its owner has listed, and a person has to approve that.
match: { services: [asks-*] }
needs: [restart]
steps:
  - step: ${PRIVATE.stepName}
    does: Restarts the service by the entry that the services file has for it.
    restart: service
    bounds: { within: 2m, ask: this one serves others }
    undo: { none: A restart has no opposite. }
    never: [Restart another service.]
`;

/** Where the platform keeps private texts. */
const PRIVATE_TABLES = [
  "evidence",
  "approvals",
  "held_calls",
  "tickets",
  "ticket_events",
  "services",
  "findings",
  "effects",
  "webhooks",
  "a2a_tasks",
  "conversation_messages",
  "agent_notes",
  "runbooks",
  "guard_policies",
  "governance_policies",
  "shield_policies",
  "keys",
];

describe("public receipts of a run with private texts in all of its parts", () => {
  let people: People;
  let faulty: BrokenService;
  let key: string;
  let approver: string;
  let keyId: string;
  let texts: string[];

  before(async () => {
    const folder = await testFolder();
    const runbooks = join(folder, "runbooks");
    await mkdir(runbooks, { recursive: true });
    await writeFile(join(runbooks, "crane-calmer.yaml"), RUNBOOK);
    people = await openPeople({ SEALOOP_RUNBOOKS: runbooks, SEALOOP_LIMIT_TOOLS: "1000" });
    const { store, config, sealer } = people.loop;
    const issue = (principal: string, mayApprove: boolean) =>
      issueSealedKey(store, "operator", {
        tenant: PRIVATE.tenant,
        principal,
        tier: "partner",
        scope: "full",
        mayApprove,
        expiresAt: null,
      });
    const issued = await issue(PRIVATE.principal, false);
    approver = (await issue(PRIVATE.approver, true)).key;
    key = issued.key;
    keyId = issued.record.id;
    await setPolicies(folder);
    await putInForce(store, loadCatalogue(config));
    await repairAService();
    await askPeople();
    await useTools();
    await talkToAgents();
    await reportAndSeal();
    const { id } = await sealer.request({
      category: "test",
      actor: "test",
      subject: "end",
      action: "end",
      outcome: "ok",
    });
    await sealer.sealed(id);
    texts = (await exportReceipts(store, { from: 0, to: (await getHead(store)).size }))
      .map(({ text }) => text);
  });
  after(async () => {
    await faulty?.remove();
    await people?.stop();
  });

  async function call(method: string, path: string, body?: unknown, as = key): Promise<Json> {
    const answer = await people.call(method, path, undefined, body, { "x-api-key": as });
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
  const resultOf = (workflowId: string): Promise<Json> =>
    people.eventually(async () => {
      const path = `/v1/workflows/${workflowId}/result?timeout_seconds=60`;
      return (await call("GET", path)).result ?? undefined;
    });
  const approve = (approvalId: string) =>
    call("POST", `/v1/approvals/${approvalId}/approve`, undefined, approver);

  async function setPolicies(folder: string): Promise<void> {
    const { store } = people;
    await applyGovernanceText(
      JSON.stringify({
        rules: [{
          name: "ask",
          when: { tools: ["itsm_close_ticket"], tenants: [PRIVATE.tenant], doors: ["mcp"] },
          then: "needs_approval",
          reason: PRIVATE.ruleReason,
        }],
      }),
      store,
    );
    const guard = join(folder, "guard.yaml");
    const [from, to] = ["2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"];
    const freezes = [{ from, to, reason: PRIVATE.freezeReason }];
    await writeFile(guard, JSON.stringify({ freezes }));
    const config = loadConfig({ SEALOOP_DATA: folder, SEALOOP_POLICY: guard });
    const log = createLog("test", "silent");
    (await followPolicyFile({ config, store: await storeAs(store, "engine"), log })).stop();
  }

  /** A repair that people are asked about, and a report about nothing that is known. */
  async function repairAService(): Promise<void> {
    const store = people.store.forTenant(PRIVATE.tenant);
    const place = { store, dataDir: people.loop.config.dataDir };
    faulty = await startBrokenService(place, { name: PRIVATE.service });
    const { workflow_id } = await call("POST", "/v1/itsm/loop", {
      service: PRIVATE.service,
      incident: PRIVATE.incident,
    });
    const asked = await people.eventually(async () => {
      const { approvals } = await call("GET", "/v1/approvals?limit=50");
      const found = approvals.find((one: Json) => one.action.service === PRIVATE.service);
      if (!found) return undefined;
      const { moves } = await call("GET", `/v1/approvals/${found.approval_id}/info`);
      return moves.length > 0 ? found : undefined; // else nobody can decide yet
    });
    await approve(asked.approval_id);
    assert.equal((await resultOf(workflow_id)).outcome, "sealed");
    const lone = await call("POST", "/v1/itsm/loop", { incident: PRIVATE.loneIncident });
    await resultOf(lone.workflow_id);
  }

  /** An approval of a program's own action, and one that a caller of no tenant at all could guess. */
  async function askPeople(): Promise<void> {
    const { approval_id } = await call("POST", "/v1/approvals", {
      description: PRIVATE.approvalText,
      action: { command: PRIVATE.command },
    });
    await approve(approval_id);
  }

  /** Calls that are held for people, over MCP and A2A, and a conversation. */
  async function useTools(): Promise<void> {
    const { url } = await people.tools();
    const client = await connect(url, key);
    const { ticket_id } = await call("POST", "/v1/itsm/tickets", {
      title: PRIVATE.title,
      description: PRIVATE.description,
    });
    const held: Json[] = [
      await client.callTool({
        name: "itsm_register_webhook",
        arguments: { url: PRIVATE.url, events: ["ticket.opened"] },
      }),
      await client.callTool({
        name: "itsm_close_ticket",
        arguments: { ticket_id, resolution: PRIVATE.resolution },
      }),
    ];
    await client.close();
    for (const { structuredContent } of held) {
      const { approval_id } = structuredContent.governance;
      await approve(approval_id);
      await people.eventually(async () => {
        const { act } = await call("GET", `/v1/approvals/${approval_id}/info`);
        return act.ended_at ?? undefined;
      });
    }
    const agent = a2aClient(url, key);
    await agent.ask("message/send", { message: message(PRIVATE.question) });
    await agent.ask("message/send", skill("itsm_run_loop", { incident: PRIVATE.question }));
  }

  async function talkToAgents(): Promise<void> {
    await call("POST", "/v1/agents/metrics/notes", { text: PRIVATE.agentNote });
    await call("POST", "/v1/agents/metrics/message", { text: PRIVATE.agentQuestion });
    await people.eventually(async () => {
      const { total } = await call("GET", "/v1/agents/metrics/conversation");
      return total === 2 || undefined;
    });
  }

  async function reportAndSeal(): Promise<void> {
    const answers = [
      await people.call("POST", "/v1/classify", undefined, { description: PRIVATE.report }),
      await people.call("POST", "/v1/validate", undefined, {
        incident: PRIVATE.report,
        action: { description: PRIVATE.repair },
      }),
    ];
    for (const { status, body } of answers) assert.equal(status, 200, JSON.stringify(body));
    await call("POST", "/api/v1/receipts/seal", {
      service: "public-service",
      event: "public-event",
      status: "complete",
      request_id: PRIVATE.requestId,
    });
  }

  /** Lists everything that the platform keeps privately of the run. */
  async function privateTexts(): Promise<string[]> {
    const found: string[] = [];
    for (const table of PRIVATE_TABLES) {
      const rows = await asSuperuser(people.store).query(
        `SELECT to_jsonb(t) AS row FROM ${table} t`,
      );
      found.push(...rows.flatMap(({ row }) => listTexts(row)));
    }
    return found.filter((text) => !/"nonce\\*":\\*"[0-9a-f]{32}/.test(text)); // 128 random bits: nobody guesses that
  }

  const explain = (leaks: readonly Leak[]) =>
    [...new Map(leaks.map((leak) => [leak.token, leak])).values()]
      .map(({ by, token }) => `${token}: ${by.slice(0, 200)}`).join("\n");

  it("speak of every part of it", () => {
    const categories = new Set(texts.map((text) => JSON.parse(text).category));
    const expected = [
      "key_issued",
      "config_change",
      "runbook_change",
      "ticket_opened",
      "ticket_closed",
      "guardrail_verdict",
      "repair_intended",
      "self_heal",
      "escalation",
      "approval",
      "governance_decision",
      "governed_act",
      "tool_call",
      "webhook_registered",
      "agent_note",
      "agent_answered",
      "api_call",
      "api_classification",
      "api_seal",
    ];
    assert.deepEqual(expected.filter((category) => !categories.has(category)), []);
  });

  it("hold no private text, in no encoding, and no hash of one", async () => {
    const host = hostname().length < 6 ? [] : [hostname()]; // a shorter one is in random hex now and then
    const seeds = [...Object.values(PRIVATE), ...host, people.loop.config.dataDir];
    const leaks = findLeaks(texts, await privateTexts(), seeds);
    assert.equal(explain(leaks), "");
  });

  it("would not pass with one hash of a private text, however short", async () => {
    const { action } = (await people.store.asTenant(PRIVATE.tenant).first(
      "SELECT action FROM approvals WHERE action->>'tool' = 'itsm_register_webhook'",
    ))!;
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    const secrets = await privateTexts();
    const salt = randomBytes(32).toString("hex");
    const planted = {
      plain: `"${PRIVATE.tenant}"`,
      base64: Buffer.from(PRIVATE.url).toString("base64"),
      action: sha256(listTexts(action)[1]!),
      request: sha256(`${keyId} ${PRIVATE.requestId}`).slice(0, 16),
      service: sha256(`${PRIVATE.service}\nhttp`).slice(0, 16),
      report: sha256(`report\n${PRIVATE.loneIncident}`).slice(0, 16),
      tenant: sha256(`tenant:${PRIVATE.tenant}`).slice(0, 12),
    };
    const seeds = [...Object.values(PRIVATE), keyId, "http"];
    const salted = sha256(salt + PRIVATE.tenant);
    const found = findLeaks([...Object.values(planted), salted], secrets, seeds)
      .map(({ token }) => token);
    for (const [name, text] of Object.entries(planted)) {
      assert.ok(found.some((token) => text.includes(token)), name);
    }
    assert.ok(!found.some((token) => salted.includes(token)));
  });
});
