import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { findInjection } from "../../judgement/guard/mod.ts";
import { openTicket } from "../../store/incidents/mod.ts";
import type { itsmTest } from "../../workflows/mod.ts";
import { ensureSecondsLeftInDay } from "../_time.ts";
import { openPeople, type People } from "./_people.ts";
import { asSuperuser } from "../_superuser.ts";

describe("tickets", () => {
  let people: People;
  before(async () => {
    people = await openPeople();
  });
  after(() => people?.stop());

  const get = async (path: string) => (await people.call("GET", path, "program")).body;
  /** Waits for the result of a run. */
  const resultOf = (workflowId: string) =>
    people.loop.client.workflow.getHandle<typeof itsmTest>(workflowId).result();
  /** A resolved ticket. @param seconds that it took, ended so many days ago */
  async function resolved(
    seconds: number,
    daysAgo: number,
    severity: "low" | "high",
    category?: string,
    service: string | null = null,
  ) {
    const id = `INC-${randomBytes(6).toString("hex")}`;
    await openTicket(people.store.asPlatform(), {
      id,
      title: "t",
      description: "",
      severity,
      category,
      phase: "sealed",
      service,
      fingerprint: null,
      workflowId: null,
      runId: null,
      requestedBy: "key:test",
    });
    await asSuperuser(people.store).query(
      `UPDATE tickets SET status = 'resolved', resolved_at = now() - $2 * interval '1 day',
         opened_at = now() - $2 * interval '1 day' - $3 * interval '1 second' WHERE id = $1`,
      [id, daysAgo, seconds],
    );
  }

  it("have their times to resolution told in all, by severity, by category, and by day", async () => {
    await ensureSecondsLeftInDay(60); // they are told by the day
    await resolved(10, 40, "low", "network");
    await resolved(20, 3, "low", "network");
    await resolved(30, 3, "high", "dns");
    await resolved(100, 2, "high");
    const all = await get("/v1/itsm/mttr");
    assert.deepEqual([all.resolved, all.mean_seconds, all.median_seconds], [4, 40, 25]);
    assert.ok(Math.abs(all.p90_seconds - 79) < 1e-6);
    const since = new Date(Date.now() - 10 * 86_400_000).toISOString();
    const recent = await get(`/v1/itsm/mttr?since=${since}`);
    assert.equal(recent.resolved, 3);
    assert.deepEqual(Object.keys(recent.by_severity).sort(), ["high", "low"]);
    assert.equal(recent.by_severity.high.median_seconds, 65);
    assert.equal(recent.by_category.dns.median_seconds, 30);
    assert.equal(recent.by_category.undiagnosed.resolved, 1);
    for (const year of ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59-10:00", "yesterday"]) {
      const { status, body } = await people.call("GET", `/v1/itsm/mttr?since=${year}`, "program");
      assert.equal(status, 422, year);
      assert.match(body.detail[0].msg, /^Expected a (year|date)/);
    }
    assert.equal((await get("/v1/itsm/mttr?since=0001-01-01T00:00:00Z")).resolved, 4);
    assert.deepEqual(recent.by_day.map((d: { resolved: number }) => d.resolved), [2, 1]);
    assert.match(recent.by_day[0].day, /^\d{4}-\d\d-\d\d$/);

    const database = asSuperuser(people.store);
    await database.query("UPDATE tickets SET last_good_at = opened_at - interval '1 minute'");
    const restored = await get("/v1/itsm/mttr");
    assert.deepEqual([restored.mean_seconds, restored.from_ticket.mean_seconds], [100, 40]);
    assert.equal(restored.by_severity.high.from_ticket.median_seconds, 65);
    await database.query("UPDATE tickets SET last_good_at = NULL");
  });

  it("of drills count in no figure, unless their service is named", async () => {
    const before = await get("/v1/itsm/dashboard");
    await resolved(1_000, 0, "high", "security", "attack-0a1b2c3d");
    await resolved(1_000, 0, "high", "application", "test-0a1b2c3d");
    const { tickets, mttr } = await get("/v1/itsm/dashboard");
    assert.deepEqual([tickets, mttr], [before.tickets, before.mttr]);
    assert.deepEqual(await get("/v1/itsm/mttr"), before.mttr);
    const of = async (query: string) => (await get(`/v1/itsm/remediations${query}`)).mttr.resolved;
    assert.equal(await of("?service=attack-0a1b2c3d"), 1);
    assert.equal(await of("?service=nobody"), 0);
    assert.equal(await of(""), before.mttr.resolved);
  });

  it("are listed by field, severity and time, and open ones by urgency", async () => {
    const { body: low } = await people.call("POST", "/v1/itsm/tickets", "program", {
      title: "Printer jams",
      severity: "low",
    });
    await people.call("POST", "/v1/itsm/tickets", "program", {
      title: "All is down",
      severity: "critical",
    });
    const dns = await get("/v1/itsm/incidents?category=dns");
    assert.equal(dns.tickets.length, 1);
    const open = await get(
      "/v1/itsm/incidents?status=open&severity=low&since=2020-01-01T00:00:00Z",
    );
    assert.deepEqual(open.tickets.map((t: { ticket_id: string }) => t.ticket_id), [low.ticket_id]);
    assert.equal((await get("/v1/itsm/incidents?escalated=true")).tickets.length, 0);
    const dashboard = await get("/v1/itsm/dashboard");
    assert.deepEqual(dashboard.open_by_severity, { critical: 1, low: 1 });
    assert.equal(dashboard.tickets.open, 2);
    assert.equal(dashboard.mttr.resolved, 4);
  });

  it("of healed incidents tell the whole story in a draft of the postmortem", async () => {
    const { body } = await people.call("POST", "/v1/itsm/test", "program", { scenario: "crash" });
    const { outcome, ticket_id, receipt_id } = await resultOf(body.workflow_id);
    assert.equal(outcome, "sealed", JSON.stringify(body));
    const ticket = await get(`/v1/itsm/tickets/${ticket_id}?postmortem=true`);
    const { postmortem } = ticket;
    for (
      const part of [
        "## Cause",
        "## Timeline",
        "## What was done",
        "## Receipts",
        `/receipt/${receipt_id})`,
        ticket.receipt.hash_sha256,
        "| +0:00.000 |",
      ]
    ) {
      assert.ok(postmortem.includes(part), part);
    }
    assert.match(postmortem, /\| The platform closed the ticket, as the check had passed\. \|/);
    assert.match(postmortem, /The fault was first seen at \S+Z\b.*, and the ticket was opened/);
    assert.match(postmortem, /- Observation 1, check in round 1: /);
    assert.ok(!postmortem.includes("/api/verify/"), "people get the page");
    assert.match(postmortem, /it was carried out\. The check \*\*passed\*\* afterwards\./);
    assert.match(postmortem, /rails: \*\*allow\*\*/);
    assert.deepEqual(findInjection(postmortem), []);
    assert.ok(!postmortem.includes("[object") && !postmortem.includes("`{"), postmortem);
    assert.equal((await get(`/v1/itsm/tickets/${ticket_id}`)).postmortem, null);
    assert.equal((await get(`/v1/itsm/tickets/${ticket_id}/verify`)).verified, true);
    const { remediations, success_rate, by_state } = await get(
      `/v1/itsm/remediations?service=${ticket.service}`,
    );
    assert.equal(remediations[0].ticket_id, ticket_id);
    assert.deepEqual([success_rate, by_state], [1, { done: 1 }]);
    const all = await get("/v1/itsm/remediations");
    assert.deepEqual([all.remediations, all.by_state], [[], {}], "that was a drill");
    assert.equal((await get("/v1/itsm/remediations?service=nobody")).success_rate, null);
  });

  it("carry a receipt that is about them, and keep the one that the platform sealed of their end", async () => {
    const sealed = async (event: Record<string, unknown>) => {
      const request_id = randomBytes(6).toString("hex");
      const body = { event: "audit.checked", status: "complete", request_id, ...event };
      return await people.eventually(async () => {
        const answer = await people.call("POST", "/api/v1/receipts/seal", "program", body);
        return answer.body.receipt_id as string | undefined; // none where it took too long
      });
    };
    const opened = await people.call("POST", "/v1/itsm/tickets", "program", { title: "Fan" });
    const { ticket_id } = opened.body;
    const path = `/v1/itsm/tickets/${ticket_id}`;
    const embed = (receipt_id: string) =>
      people.call("POST", `${path}/receipt`, "program", { receipt_id });
    const foreign = await sealed({ service: "INC-000000000001" });
    const refused = await embed(foreign);
    assert.equal(refused.status, 422);
    assert.match(refused.body.detail[0].msg, /not about INC-\w+: expected one whose subject/);
    for (
      const event of [{ service: "rack", details: { of: [{ ticket_id }] } }, { service: ticket_id }]
    ) {
      const id = await sealed(event);
      assert.equal((await embed(id)).body.receipt?.id, id);
      const { verified, checks } = await get(`${path}/verify`);
      assert.deepEqual([verified, checks.ticket], [true, "pass"]);
    }
    await people.call("POST", `${path}/close`, "program", { resolution: "Fan replaced" });
    const own = (await get(path)).receipt_id;
    await people.sealed(own);
    const late = await embed(await sealed({ service: ticket_id }));
    assert.equal(late.status, 409);
    assert.match(
      late.body.detail,
      /it has the receipt that the platform sealed when the ticket was closed/,
    );
    const same = await embed(own);
    assert.deepEqual([same.status, same.body.receipt_id], [200, own]);
    assert.equal((await embed(await sealed({ service: ticket_id }))).status, 409);

    const sql = "UPDATE tickets SET receipt_id = $2 WHERE id = $1"; // as earlier versions let be embedded
    await people.store.asPlatform().query(sql, [ticket_id, foreign]);
    const { verified, checks } = await get(`${path}/verify`);
    assert.deepEqual([verified, checks.ticket, checks.signature], [false, "fail", "pass"]);
  });

  it("publish a person's closing note, and only commit to an agent's", async () => {
    const open = async () =>
      (await people.call("POST", "/v1/itsm/tickets", "program", { title: "Fan" })).body.ticket_id;
    const told = async (id: string) => {
      const { receipt_id } = await get(`/v1/itsm/tickets/${id}`);
      await people.sealed(receipt_id);
      const { events } = await get(`/v1/itsm/tickets/${id}/timeline`);
      return { ...await get(`/v1/receipt/${receipt_id}`), by: events.at(-1).data.by };
    };
    const [ann, program, agent] = [await open(), await open(), await open()];
    const resolution = "Customer Smith gave us the key 4711";
    for (const [id, who] of [[ann, "ann"], [program, "program"]]) {
      await people.call("POST", `/v1/itsm/tickets/${id}/close`, who, { resolution });
    }
    const client = await people.agent();
    const closed = await client.callTool({
      name: "itsm_close_ticket",
      arguments: { ticket_id: agent, resolution },
    });
    assert.notEqual(closed.isError, true, JSON.stringify(closed.content));
    const [byAnn, byProgram, byAgent] = [await told(ann), await told(program), await told(agent)];
    assert.deepEqual([byAnn.human_input, byAnn.by], [resolution, "person"]);
    assert.deepEqual([byProgram.human_input, byProgram.by], [resolution, undefined]);
    assert.deepEqual([byAgent.human_input, byAgent.by], ["", undefined]);
    assert.match(byAgent.details.commitments.resolution, /^[0-9a-f]{64}$/);
    assert.ok(!JSON.stringify(byAgent).includes("Smith"));
    assert.equal((await get(`/v1/itsm/tickets/${agent}`)).resolution, resolution);
  });

  it("keep what people write from becoming Markdown in a postmortem", async () => {
    const title = "<script>x</script> | [a](http://evil.example) `b`";
    const { body } = await people.call("POST", "/v1/itsm/tickets", "program", { title });
    const { postmortem } = await get(`/v1/itsm/tickets/${body.ticket_id}?postmortem=true`);
    assert.ok(!postmortem.includes("<script>"));
    assert.ok(!postmortem.includes("[a](http"));
  });

  it("are healed over MCP with each step told", async () => {
    const client = await people.agent();
    const said: { progress: number; total?: number; message?: string }[] = [];
    const args = { name: "itsm_run_test", arguments: { scenario: "hang", wait_seconds: 50 } };
    const result = await client.callTool(args, undefined, {
      onprogress: (step) => void said.push(step),
      timeout: 250_000,
    }) as CallToolResult;
    const { status, workflow_id } = result.structuredContent as Record<string, string>;
    assert.equal((await resultOf(workflow_id!)).outcome, "sealed");
    assert.ok(said.length >= 2, JSON.stringify(said));
    const numbers = said.map(({ progress }) => progress);
    assert.deepEqual(numbers, [...new Set(numbers)].sort((a, b) => a - b));
    if (status === "RUNNING") return; // it was waited for no longer
    assert.match(said.at(-1)!.message!, /^(REMEDIATE|VERIFY|CLOSE\+SEAL|ended)/);
  });
});
