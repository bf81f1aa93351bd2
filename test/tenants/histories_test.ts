import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import type { WorkflowHandle } from "@temporalio/client";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { TASK_QUEUE, tenantAttribute, WORKFLOW } from "../../contract/domain/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import { addStop, removeStop } from "../../store/calls/mod.ts";
import { listTickets } from "../../store/incidents/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { clientFor, ensureRelay } from "../../runtime/temporal/mod.ts";
import { setGovernance } from "../_governance.ts";
import { giveKey } from "../_superuser.ts";
import { eventually } from "../_time.ts";
import { openPeople, type People } from "../api/_people.ts";
import { serveEngine } from "../judgement/engine/_engine.ts";
import { a2aClient, type Json, message, skill } from "../mcp/_a2a.ts";
import {
  type BrokenService,
  heldRestart,
  startBrokenService,
} from "../workflows/_broken_service.ts";
import { writeRecorderRunbooks } from "../workflows/_loop_scenarios.ts";
import { MODEL, serveModel } from "../workflows/_model.ts";

const TENANT = "acme";

describe("histories of a tenant's runs", () => {
  let people: People;
  let key: string;
  let personKey: string;
  let tools: string;
  /** Private words by what they are in. */
  const words = new Map<string, string>();
  const broken: BrokenService[] = [];
  const asked: string[] = [];

  /** Returns a word that is in one text of the tenant, and nowhere else. */
  function word(name: string): string {
    const known = words.get(name) ?? `zq${randomBytes(6).toString("hex")}`;
    words.set(name, known);
    return known;
  }

  before(async () => {
    const model = await serveModel(({ task, text }) => {
      asked.push(text);
      if (task === "plan") return { looks: [] };
      const [said] = [...words.values()].filter((one) => text.includes(one));
      const claim = { text: `It is about desk and ${said}.`, evidence: [1] };
      const diagnosis = { cause: "desk", confidence: 1, diagnosis: claim, steps: [claim] };
      return task === "diagnose" ? diagnosis : { claims: [claim] };
    });
    people = await openPeople(
      {
        SEALOOP_RUNBOOKS: await writeRecorderRunbooks(),
        SEALOOP_OUTBOUND_ALLOW: "127.0.0.0/8",
        SEALOOP_WEBHOOK_PAUSES: "1",
        SEALOOP_LIMIT_ENTERPRISE: "100000",
        SEALOOP_LIMIT_TOOLS: "10000", // as it polls
      },
      [],
      (databaseUrl) => serveEngine(databaseUrl, model),
    );
    await ensureRelay(people.loop.client);
    tools = (await people.tools()).url;
    const issue = (principal: string, mayApprove: boolean) =>
      giveKey(people.store, { tenant: TENANT, tier: "enterprise", principal, mayApprove });
    key = (await issue(word("agent"), false)).key;
    personKey = (await issue(`Ada ${word("person")}`, true)).key;
    await setGovernance(people.store, {
      rules: [
        { name: "ask", when: { tools: ["itsm_create_ticket"] }, then: "needs_approval" },
        { name: "rest", when: { tools: ["*"] }, then: "allow", guardrails: false },
      ],
    });
  });
  after(async () => {
    for (const service of broken) await service.remove();
    await people?.stop();
  });

  async function post(path: string, body: object, by = key): Promise<Json> {
    const headers = { "x-api-key": by, "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(people.url + path, init);
    const answer = await response.json();
    assert.ok(response.ok, `${path}: ${JSON.stringify(answer)}`);
    return answer;
  }

  async function get(path: string): Promise<Json> {
    return await (await fetch(people.url + path, { headers: { "x-api-key": key } })).json();
  }

  /** Breaks a service whose restart has a private word among its arguments. */
  async function breakService(name: string): Promise<void> {
    const place = {
      store: people.store.forTenant(TENANT),
      dataDir: people.loop.config.dataDir,
    };
    const runbook = (command: readonly string[], folder: string) => {
      const restart = heldRestart(command, folder) as { command: readonly string[] };
      return { command: [...restart.command, word("command")] };
    };
    const service = await startBrokenService(place, { name, runbook });
    broken.push(service);
    await service.release();
  }

  /** Waits for the approval that a loop asks for, and approves it as a person of the tenant. */
  async function approve(isIt: (approval: Json) => boolean): Promise<void> {
    const { approval_id } = await eventually(async () => {
      const { approvals } = await get("/v1/approvals?status=pending");
      const found = approvals.find(isIt);
      const db = people.store.asTenant(TENANT);
      return found && (await getApproval(db, found.approval_id))?.moves ? found : undefined;
    });
    await post(`/v1/approvals/${approval_id}/approve`, {}, personKey);
  }

  /** Does everything of which Temporal hears. */
  async function doEverything(): Promise<void> {
    await post("/v1/itsm/webhooks", { url: `https://127.0.0.1:9/${word("webhook")}` });
    await breakService("shop");
    await breakService("asks-shop");
    await putService(people.store.asTenant(TENANT), {
      name: "desk",
      type: "web",
      host: word("host"),
      owner: `Bob ${word("owner")}`,
      origin: "file",
      check: { tcp: "127.0.0.1:1" },
      restart: null,
      watched: true,
      dependsOn: [],
    });
    await post("/v1/itsm/loop", { service: "shop", incident: `It ${word("report")} hangs` });
    await post("/v1/itsm/loop", { service: "asks-shop" });
    await post("/v1/itsm/loop", { incident: word("one-word-report") });
    await post("/v1/itsm/loop", {});
    await approve(({ ticket_id }) => ticket_id !== null);

    await post("/v1/approvals", {
      description: `Drop ${word("description")}`,
      action: { command: word("action"), [word("field")]: { status: word("status") } },
    });
    await approve(({ description }) => description.includes(word("description")));

    const client = a2aClient(tools, key);
    const send = async (params: Json) => (await client.ask("message/send", params)).result;
    const until = (id: string, state: string) =>
      eventually(async () =>
        (await client.ask("tasks/get", { id })).result.status.state === state || undefined
      );
    const conversation = await send({ message: message(`Hello ${word("greeting")}`) });
    await until(conversation.id, "input-required");
    const more = { taskId: conversation.id, contextId: conversation.contextId };
    await send({ message: message(`shop ${word("prompt")} is down`, more) });
    await until(conversation.id, "completed");
    const incident = `desk fails with ${word("incident")}`;
    const crew = await send(skill("dispatch_crew_incident", { incident }));
    await until(crew.id, "completed");
    await post("/v1/agents/metrics/notes", { text: `shop has ${word("note")}` });
    await post("/v1/agents/metrics/message", { text: `Is shop ${word("question")}?` });
    await post("/v1/agents/reasoning/message", { text: `shop is down for ${word("asker")}` });
    const args = { title: `Broken ${word("title")}`, description: word("text") };
    const held = await send(skill("itsm_create_ticket", args));
    await approve(({ subject }) => subject === "tool:itsm_create_ticket");
    await until(held.id, "completed");

    const stop = { kind: "all", name: "", reason: `Because of ${word("stop")}` } as const;
    await addStop(people.store.asPlatform(), stop);
    const drill = await clientFor(people.loop.client, people.store.forTenant(TENANT)).workflow
      .start(WORKFLOW.itsmTest, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: "test-0a1b2c3d",
        args: [{ id: "0a1b2c3d", scenario: "crash", requested_by: "key:1" }],
        typedSearchAttributes: [tenantAttribute(TENANT)],
      });
    await assert.rejects(drill.result(), ({ cause }: Json) => {
      assert.match(cause.cause.message, new RegExp(word("stop")), "its tenant reads why");
      return true;
    });
    await removeStop(people.store.asPlatform(), stop);
  }

  /** Returns all runs that have ended, once there are such of all these types. */
  async function endedRuns(types: readonly string[]): Promise<WorkflowHandle[]> {
    const { workflow } = people.loop.client;
    return await eventually(async () => {
      const runs: WorkflowHandle[] = [];
      const ended = new Set<string>();
      for await (const { workflowId, runId, type, status } of workflow.list()) {
        runs.push(workflow.getHandle(workflowId, runId));
        if (status.name !== "RUNNING") ended.add(type);
        else if (types.includes(type)) return undefined;
      }
      return types.every((type) => ended.has(type)) ? runs : undefined;
    });
  }

  it("have none of its private words, and all that its runs need", async () => {
    await doEverything();
    const runs = await endedRuns([
      "itsmLoop",
      "itsmSweep",
      "itsmTest",
      "approval",
      "governedAct",
      "reasoning",
      "crew",
      "a2aTask",
      "a2aSkill",
      "webhookDelivery",
    ]);
    const texts: string[] = [];
    for (const run of runs) {
      texts.push(...textsOf(JSON.parse(historyToJSON(await run.fetchHistory()))));
      const { raw } = await run.describe();
      texts.push(...textsOf(JSON.parse(JSON.stringify(raw))));
    }
    const all = texts.join("\n").toLowerCase();
    assert.ok(/"ticket_id":"inc-/.test(all) && all.includes("checks the prompt"), "they are read");
    const found = [...words].filter(([, word]) => all.includes(word));
    assert.deepEqual(found.map(([name]) => name), []);

    // The runs had them nevertheless.
    assert.ok(asked.some((text) => text.includes(word("prompt"))));
    assert.ok(asked.some((text) => text.includes(word("incident"))));
    const { workflows } = await get("/v1/workflows?type=crew");
    const { result } = await get(`/v1/workflows/${workflows[0].workflow_id}/result`);
    assert.equal(result.written_by, MODEL, `${result.fallback}; ${result.dropped}`);
    assert.ok(result.diagnosis.includes(word("incident")), result.diagnosis);
    const tickets = await listTickets(people.store.asTenant(TENANT), { limit: 50 });
    for (const name of ["title", "one-word-report"]) {
      assert.ok(JSON.stringify(tickets).includes(word(name)), name);
    }
  });

  it("give their results to no client of another tenant", async () => {
    const { workflows } = await get("/v1/workflows?type=crew");
    const rival = clientFor(people.loop.client, people.store.forTenant("rival"));
    const run = rival.workflow.getHandle(workflows[0].workflow_id);
    await assert.rejects(run.result(), /is not in the database/);
  });

  it("begin no run of another tenant", async () => {
    const { workflows } = await get("/v1/workflows?type=crew");
    const { workflow_id: workflowId } = workflows[0];
    const { client, place } = people.loop;
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    const { input } = events![0]!.workflowExecutionStartedEventAttributes!;
    const text = JSON.stringify("rival");
    const rival = { metadata: { encoding: Buffer.from("json/plain") }, data: Buffer.from(text) };
    const { runId } = await client.workflowService.startWorkflowExecution({
      namespace: place.namespace,
      workflowId,
      workflowType: { name: WORKFLOW.crew },
      taskQueue: { name: TASK_QUEUE.itsm },
      requestId: randomUUID(),
      input,
      searchAttributes: { indexedFields: { SealoopTenant: rival } },
    });
    const { workflow } = clientFor(client, people.store.forTenant("rival"));
    await assert.rejects(workflow.getHandle(workflowId, runId).result(), ({ cause }: Json) => {
      assert.equal(cause.type, "UnauthenticatedPayload");
      assert.match(cause.message, /it was started for acme, and its attribute names rival/);
      return true;
    });
  });
});

/** Returns every text within a value: as it is, and decoded from base64. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value, Buffer.from(value, "base64").toString("latin1")];
  if (value === null || typeof value !== "object") return [];
  if ((value as Json).type === "Buffer") {
    return [Buffer.from((value as Json).data).toString("latin1")];
  }
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsOf(inner)]);
}
