import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { progressQuery, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { stopManagedProcess } from "../../integrations/host/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { listTicketEvents } from "../../store/incidents/mod.ts";
import { type Message, routeMessages } from "../../store/notices/mod.ts";
import type { itsmLoop, itsmSweep } from "../../workflows/mod.ts";
import { connectHttp } from "../mcp/_tool_server.ts";
import { type BrokenService, startBrokenService } from "../workflows/_broken_service.ts";
import { readTicketRecord } from "../workflows/_ticket_record.ts";
import { runbookStep, writeRunbooks } from "../workflows/_runbooks.ts";
import { testFolder } from "../_run.ts";
import { openPeople, type People } from "./_people.ts";

describe("people on call", () => {
  let people: People;
  const broken: BrokenService[] = [];

  before(async () => {
    const runbooks = await testFolder();
    await writeRunbooks(runbooks, {
      "ask-first": {
        match: { services: ["asks"] },
        needs: ["restart"],
        steps: [
          runbookStep("restart", {
            restart: "service",
            bounds: { within: "2m", ask: "its owner" },
          }),
        ],
      },
    });
    people = await openPeople({ SEALOOP_RUNBOOKS: runbooks });
  });
  after(async () => {
    for (const one of broken) await one.remove();
    await people?.stop();
  });

  const post = (ticket: string, move: string, who: string, body: object = {}) =>
    people.call("POST", `/v1/itsm/tickets/${ticket}/${move}`, who, body);
  const resultOf = (workflowId: string) =>
    people.loop.client.workflow.getHandle<typeof itsmLoop>(workflowId).result();

  /** Starts a service that has crashed. */
  async function crash(name: string, canRestart: boolean): Promise<BrokenService> {
    const { store, config: { dataDir } } = people.loop;
    const one = await startBrokenService({ store, dataDir }, {
      name,
      watched: true,
      ...(canRestart ? {} : { runbook: () => null }),
    });
    broken.push(one);
    return one;
  }
  async function startLoop(service: string): Promise<string> {
    const { body } = await people.call("POST", "/v1/itsm/loop", "program", { service });
    return body.workflow_id;
  }
  /** Starts a loop, and returns its ticket once people have to act. */
  async function escalated(service: string): Promise<string> {
    const { outcome, ticket_id } = await resultOf(await startLoop(service));
    assert.equal(outcome, "escalated");
    return ticket_id!;
  }
  let sweeps = 0;
  const sweep = () =>
    people.loop.client.workflow.execute<typeof itsmSweep>(WORKFLOW.itsmSweep, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `sweep-of-test-${++sweeps}`,
    });
  const routed = async () => {
    const told: Message[] = [];
    const plan = (message: Message) => {
      told.push(message);
      return [];
    };
    while (await routeMessages(people.loop.store.asPlatform(), plan));
    return told.map(({ kind }) => kind);
  };

  it("acknowledge an incident once, and are told of it no more", async () => {
    await crash("quiet", false);
    const id = await escalated("quiet");
    assert.ok((await routed()).includes("incident.escalated"));
    const { status, body } = await post(id, "acknowledge", "program", { reason: "I look at it" });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.acknowledged_by, "Program");
    const again = await post(id, "acknowledge", "ann");
    assert.deepEqual([again.status, again.body], [200, body], "it stays as it is");

    const { result_url: _, workflow_id } = (await post(id, "retry", "program")).body;
    assert.equal((await resultOf(workflow_id)).outcome, "escalated");
    const told = await routed();
    assert.ok(
      told.includes("incident.acknowledged") && !told.includes("incident.escalated"),
      told.join(),
    );
    const { messages } = (await people.call("GET", "/v1/comms?limit=50", "program")).body;
    const kinds = messages.filter((one: { refs: { ticket_id: string } }) =>
      one.refs.ticket_id === id
    )
      .map((one: { kind: string }) => one.kind);
    assert.equal(
      kinds.filter((kind: string) => kind === "incident.escalated").length,
      2,
      "the feed has all",
    );

    const { events, receipts } = await readTicketRecord(people.store, id);
    assert.equal(events.filter((kind) => kind === "acknowledged").length, 1);
    const sealed = await people.eventually(async () =>
      (await readTicketRecord(people.store, id)).receipts.find(({ category }) =>
        category === "ticket_acknowledged"
      )
    );
    assert.ok(
      !JSON.stringify([sealed, receipts]).includes("I look at it"),
      "the reason stays private",
    );
  });

  it("take an incident, which the loop leaves alone until it is handed back", async () => {
    const service = await crash("mine", false);
    const id = await escalated("mine");
    assert.equal((await post(id, "take", "ann")).body.taken_by, "ann");
    assert.equal((await post(id, "take", "ann2")).status, 200, "she has it already");
    assert.match((await post(id, "take", "bob")).body.detail, /ann has it/);
    assert.equal((await post(id, "retry", "bob")).status, 409);
    assert.match((await post(id, "hand-back", "program")).body.detail, /ann has it, who alone/);
    await putService(people.loop.store.asPlatform(), {
      ...service.service,
      restart: { process: { command: restartOf(service) } },
    });
    assert.deepEqual((await sweep()).loops, [], "no sweep starts a loop for it");
    const asked = await resultOf(await startLoop("mine"));
    assert.deepEqual([asked.outcome, asked.ticket_id], ["escalated", id]);
    const taken = (await listTicketEvents(people.loop.store.asPlatform(), id)).at(-1)!;
    assert.deepEqual([taken.kind, taken.data.reason], ["escalated", "taken"]);
    assert.equal(await service.starts(), 1, "nothing was done");

    assert.equal((await post(id, "hand-back", "ann")).body.taken_by, null);
    assert.equal((await post(id, "hand-back", "ann")).status, 200, "again, it changes nothing");
    const { loops } = await sweep();
    assert.equal(loops.length, 1);
    const healed = await resultOf(loops[0]!);
    assert.deepEqual([healed.outcome, healed.ticket_id], ["sealed", id]);
    assert.equal((await post(id, "take", "ann")).status, 409, "it is resolved");
    const { body } = await people.call("GET", `/v1/itsm/tickets/${id}?postmortem=true`, "program");
    assert.match(body.postmortem, /\*\*ann\*\* took it, so that the platform left it alone\./);
    assert.match(body.postmortem, /\*\*ann\*\* handed it back to the platform\./);
  });

  it("take an incident whose repair waits for consent, and nothing is done when it comes", async () => {
    const service = await crash("asks", true);
    const workflowId = await startLoop("asks");
    const handle = people.loop.client.workflow.getHandle<typeof itsmLoop>(workflowId);
    const { approval_id, ticket_id } = await people.eventually(async () => {
      const progress = await handle.query(progressQuery);
      return progress.approval_id ? progress : undefined;
    });
    await post(ticket_id!, "take", "bob");
    await people.vote(approval_id!, "approve", "ann");
    assert.equal((await handle.result()).outcome, "escalated");
    assert.equal(await service.starts(), 1);
  });

  it("ask for a retry after they have changed something", async () => {
    const service = await crash("again", false);
    const id = await escalated("again");
    await putService(people.loop.store.asPlatform(), {
      ...service.service,
      restart: { process: { command: restartOf(service) } },
    });
    const { status, body } = await post(id, "retry", "program", { wait_seconds: 0 });
    assert.equal(status, 200, JSON.stringify(body));
    const healed = await resultOf(body.workflow_id);
    assert.deepEqual([healed.outcome, healed.ticket_id], ["sealed", id]);
    const events = await listTicketEvents(people.loop.store.asPlatform(), id);
    const by = events.find(({ kind }) => kind === "taken_over")!.data.requested_by;
    assert.equal(by, `key:${people.keyId("program")}`);
    const printer = await people.call("POST", "/v1/itsm/tickets", "program", { title: "Printer" });
    const refused = await post(printer.body.ticket_id, "retry", "program");
    assert.match(refused.body.detail, /people have opened it, and no fault was found/);
  });

  it("ask for the restart of a healthy service, which is a repair like any other, and say why", async () => {
    const service = await crash("well", true);
    assert.equal((await resultOf(await startLoop("well"))).outcome, "sealed");
    assert.equal(await service.starts(), 2);
    const ask = async (who: string, reason: string) => {
      const answer = await people.call("POST", "/v1/itsm/loop", who, { service: "well", reason });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.workflow_id as string;
    };
    /** Asks, has another person approve, and returns the result. */
    const restart = async (who: string, reason: string) => {
      const before = await service.starts();
      const workflowId = await ask(who, reason);
      const handle = people.loop.client.workflow.getHandle<typeof itsmLoop>(workflowId);
      const approval = await people.eventually(async () =>
        (await handle.query(progressQuery)).approval_id ?? undefined
      );
      const body = await people.eventually(async () => {
        const { status, body } = await people.call("GET", `/v1/approvals/${approval}/info`, "ann");
        return status === 200 ? body : undefined;
      });
      assert.ok(body.reasons.includes("The last probe saw well in order"), body.reasons.join());
      assert.equal(await service.starts(), before, "it waits for a person");
      await people.vote(approval, "approve", "bob");
      const result = await handle.result();
      assert.deepEqual([result.outcome, await service.starts()], ["sealed", before + 1]);
      return { result, ...await readTicketRecord(people.store, result.ticket_id!) };
    };
    const { result, ticket, receipts } = await restart(
      "ann",
      "It has the old certificate in its memory",
    );
    assert.equal(ticket.title, "A restart of well was asked for");
    assert.match(ticket.resolution!, /^Restarted as it was asked for, by runbook restart-service/);
    const end = receipts.find(({ id }) => id === result.receipt_id)!;
    assert.equal(
      (end as unknown as { human_input: string }).human_input,
      "It has the old certificate in its memory",
    );
    assert.deepEqual([end.details.asked, end.details.asked_by], [
      "restart",
      `key:${people.keyId("ann")}`,
    ]);

    const other = await restart("program", "I would like to");
    assert.ok(
      !JSON.stringify(other.receipts).includes("I would like to"),
      "a program's reason stays private",
    );
    const { dataDir } = people.loop.config;
    await stopManagedProcess(dataDir, "well");
    const fault = await resultOf(await startLoop("well"));
    const { body: failed } = await people.call("GET", `/v1/itsm/tickets/${fault.ticket_id}`, "ann");
    assert.ok(
      failed.last_good_at < failed.opened_at,
      "the time to restore counts from the last good check",
    );

    const alone = await people.call("POST", "/v1/itsm/loop", "ann", { reason: "Why not" });
    assert.equal(alone.status, 422);
  });

  it("are told on their ticket of another fault of the service, which its runbook mends", async () => {
    const service = await crash("changes", true);
    const refusing = createServer((_, res) => res.writeHead(401).end());
    await new Promise<void>((done) => refusing.listen(0, "127.0.0.1", done));
    const { port } = refusing.address() as AddressInfo;
    const put = (check: typeof service.service.check) =>
      putService(people.loop.store.asPlatform(), { ...service.service, check });
    await put({ http: `http://127.0.0.1:${port}/` });
    const id = await escalated("changes");
    assert.deepEqual((await sweep()).loops, [], "that fault is with people");
    refusing.close();
    refusing.closeAllConnections();
    await put(service.service.check); // it refuses connections
    const { loops } = await sweep();
    assert.equal(loops.length, 1);
    const { outcome, ticket_id } = await resultOf(loops[0]!);
    assert.deepEqual([outcome, ticket_id, await service.starts()], ["sealed", id, 2]);
    const events = await listTicketEvents(people.loop.store.asPlatform(), id);
    const codes = events.filter(({ kind }) => kind === "detected").map(({ data }) => data.code);
    assert.deepEqual(codes, ["status_401", "refused"]);
  });

  it("find no incidents of other tenants", async () => {
    await crash("ours", false);
    const id = await escalated("ours");
    for (const move of ["acknowledge", "take", "hand-back", "retry"]) {
      assert.equal((await post(id, move, "rival")).status, 404, move);
      assert.equal((await post(id, move, "free")).status, 403, move);
    }
  });

  it("are told the nearest names where one is unknown, and none of other tenants", async () => {
    await crash("nearby", true);
    const { ticket_id, says } = await resultOf(await startLoop("nearby"));
    assert.equal(says, undefined);
    const mistyped = ticket_id!.slice(0, -1) + (ticket_id!.endsWith("0") ? "1" : "0");
    const read = async (who: string) =>
      (await people.call("GET", `/v1/itsm/tickets/${mistyped}`, who)).body.detail;
    assert.equal(
      await read("program"),
      `There is no ticket ${mistyped}; did you mean ${ticket_id}?`,
    );
    assert.equal(
      await read("rival"),
      `There is no ticket ${mistyped}; GET /v1/itsm/incidents lists them`,
    );
    const loop = async (who: string) =>
      (await people.call("POST", "/v1/itsm/loop", who, { service: "naerby" })).body.detail;
    assert.match(await loop("program"), /^There is no service naerby; did you mean nearby\?$/);
    assert.ok(!(await loop("rival")).includes("nearby"));
    const clear = await resultOf(await startLoop("nearby"));
    assert.deepEqual([clear.outcome, clear.says], [
      "clear",
      "nearby was looked at again (http), and no fault was found.",
    ]);
  });

  it("find these operations beyond the contract, and tools of them where they ask", async () => {
    const { body: own } = await people.call("GET", "/openapi.json");
    const { body: more } = await people.call("GET", "/extensions/openapi.json");
    const path = "/v1/itsm/tickets/{ticket_id}/take";
    assert.deepEqual([path in own.paths, path in more.paths], [false, true]);
    const { url, key } = await people.tools();
    const listed = async (query: string) => {
      const response = await fetch(`${url}/mcp/tools${query}`);
      return (await response.json() as { tools: { name: string }[] }).tools.map(({ name }) => name);
    };
    const names = await listed("");
    assert.equal(names.length, 66);
    assert.ok(!names.includes("itsm_take_incident"));
    assert.equal((await (await fetch(`${url}/health`)).json() as { tools: number }).tools, 66);
    const asked = await connectHttp(url, key, "?tools=itsm,on_call");
    assert.ok((await asked.listTools()).tools.some(({ name }) => name === "itsm_take_incident"));
    await asked.close();
    const usual = await connectHttp(url, key);
    const unknown = await usual.callTool({ name: "itsm_take_incident", arguments: {} }).catch(
      String,
    );
    assert.match(String(unknown), /Unknown tool/);
    await usual.close();
  });
});

/** Returns the command by which a broken service was started at first. */
function restartOf({ service, folder }: BrokenService): string[] {
  const { http } = service.check as { http: string };
  return [
    process.execPath,
    join(ROOT, "integrations", "sandbox", "test_service.js"),
    new URL(http).port,
    folder,
  ];
}
