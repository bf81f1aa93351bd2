import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import { type Finding, progressQuery, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { getApproval, listApprovalMoves } from "../../store/approvals/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import type { itsmLoop, itsmSweep } from "../../workflows/mod.ts";
import { testFolder } from "../_run.ts";
import { type BrokenService, startBrokenService } from "../workflows/_broken_service.ts";
import { runbookStep, writeRunbooks } from "../workflows/_runbooks.ts";
import { readTicketRecord } from "../workflows/_ticket_record.ts";
import { openPeople, type People } from "./_people.ts";

const ASK_FIRST = {
  match: { services: ["asks-*"] },
  needs: ["restart"],
  steps: [
    runbookStep("restart", {
      restart: "service",
      bounds: { within: "2m", ask: "this one serves others" },
    }),
  ],
};

describe("an approval that a loop asks for", () => {
  let people: People;
  /** Called before each repair. */
  let beforeRepair: (() => Promise<void>) | undefined;
  const brokenServices: BrokenService[] = [];

  before(async () => {
    const runbooks = join(await testFolder(), "runbooks");
    await writeRunbooks(runbooks, { "ask-first": ASK_FIRST });
    people = await openPeople({ SEALOOP_RUNBOOKS: runbooks }, [], undefined, async (...seen) => {
      if (seen[0] === "before" && seen[1] === "remediate") await beforeRepair?.();
    });
  });
  beforeEach(() => {
    beforeRepair = undefined;
  });
  after(async () => {
    for (const faulty of brokenServices) await faulty.remove();
    await people?.stop();
  });

  const db = () => people.store.asPlatform();

  /** Starts a loop that waits for people. */
  async function asking(watched = false) {
    const place = { store: people.store, dataDir: people.loop.config.dataDir };
    const name = `asks-${randomBytes(3).toString("hex")}`;
    const faulty = await startBrokenService(place, { name, watched });
    brokenServices.push(faulty);
    const finding = await createServiceFinding(people.store, faulty.service, "refused");
    const run = await people.loop.client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
    return { faulty, run, finding, id: await nextApproval(finding) };
  }

  /** Waits until a loop asks by another approval than the one before. */
  const nextApproval = ({ fingerprint }: Finding, before?: string) =>
    people.eventually(async () => {
      const run = people.loop.client.workflow.getHandle<typeof itsmLoop>(`loop-${fingerprint}`);
      const { approval_id } = await run.query(progressQuery);
      const known = approval_id && approval_id !== before && await getApproval(db(), approval_id);
      return known && known.moves > 0 ? approval_id : undefined;
    });

  /** Lists the service with another entry, as its file would after an edit. */
  async function edit({ service }: BrokenService): Promise<void> {
    const { command } = (service.restart as { process: { command: readonly string[] } }).process;
    await putService(db(), {
      ...service,
      restart: { process: { command: [...command, "again"] } },
    });
  }

  const statusOf = async (id: string) => (await getApproval(db(), id))!.status;

  it("refuses the vote with what has changed and what is asked for instead, and acts by the new entry", async () => {
    const { faulty, run, id } = await asking();
    await edit(faulty);
    const { status, body } = await people.vote(id, "approve", "ann");
    assert.equal(status, 409);
    const said = new RegExp(
      `^This vote does not count, and ${id} has ended: The entry of ${faulty.service.name} restarts it in another way ` +
        "now\\. The repair was made anew, and (APR-\\w+) asks for it$",
    ).exec(body.detail);
    assert.ok(said, body.detail);
    assert.equal(await statusOf(id), "outdated");
    assert.equal(await faulty.starts(), 1);
    const anew = (await getApproval(db(), said[1]!))!;
    assert.match(anew.grounds.reasons[0]!, /^It is asked for anew: The entry of asks-\w+ restarts/);
    assert.equal((await people.vote(said[1]!, "approve", "ann")).body.status, "approved");
    const { outcome, ticket_id } = await run.result();
    assert.equal(outcome, "sealed");
    assert.equal(await faulty.starts(), 2);
    const { events, receipts } = await readTicketRecord(people.store, ticket_id!);
    assert.deepEqual(events.filter((kind) => kind.startsWith("approval_")), [
      "approval_needed",
      "approval_requested",
      "approval_outdated",
      "approval_needed",
      "approval_requested",
      "approval_approved",
    ]);
    assert.ok(!JSON.stringify(receipts).includes("another way"), "the reason is private");
    const report = await people.call("GET", `/v1/itsm/tickets/${ticket_id}?postmortem=true`, "ann");
    assert.match(JSON.stringify(report.body), /what it was about was made anew/);
  });

  it("is told to a caller of the loop at once, with the reason and the time until which people can decide", async () => {
    const { faulty, run, id } = await asking();
    const { description, expiresAt } = (await getApproval(db(), id))!;
    const expected = {
      approval_id: id,
      description,
      rule: "runbook_bounds",
      reasons: ["restart: this one serves others"],
      until: expiresAt,
    };
    const began = Date.now();
    const input = { service: faulty.service.name, wait_seconds: 50 };
    const started = await people.call("POST", "/v1/itsm/loop", "program", input);
    assert.ok(Date.now() - began < 25_000, "it does not wait for people");
    assert.equal(started.status, 200, JSON.stringify(started.body));
    const { decide, ...told } = started.body.waits_for;
    assert.deepEqual([started.body.status, told], ["RUNNING", expected]);
    assert.match(decide, new RegExp(`^npm run approvals -- approve ${id}`));
    const path = `/v1/workflows/${run.workflowId}/result?timeout_seconds=0`;
    const result = await people.call("GET", path, "program");
    assert.deepEqual(result.body.waits_for, started.body.waits_for);
    await people.vote(id, "deny", "ann");
    await run.result();
    const ended = await people.call("GET", path, "program");
    assert.equal(ended.body.waits_for, undefined);
  });

  it("answers later votes with the approval that asks instead, and can't be reopened", async () => {
    const { faulty, run, id } = await asking();
    await edit(faulty);
    await people.vote(id, "approve", "ann");
    const again = await people.vote(id, "approve", "bob");
    assert.equal(again.status, 409);
    const next = /The repair was made anew, and (APR-\w+) asks for it$/.exec(
      again.body.detail,
    )![1]!;
    const reopened = await people.vote(id, "reopen", "bob");
    assert.equal(reopened.status, 409);
    await people.vote(next, "deny", "ann");
    await run.result();
  });

  it("takes no right from those who have none: a refused vote ends nothing", async () => {
    const { faulty, run, id } = await asking();
    await edit(faulty);
    assert.equal((await people.vote(id, "approve", "program")).status, 403);
    assert.equal(await statusOf(id), "pending");
    await people.vote(id, "deny", "ann");
    await run.result();
  });

  it("closes the ticket where the fault is gone, and says so to the voter", async () => {
    const { faulty, run, id } = await asking();
    const healthy = join(faulty.folder, "healthy");
    await writeFile(healthy, "");
    await putService(db(), { ...faulty.service, check: { command: ["test", "-e", healthy] } });
    const { status, body } = await people.vote(id, "approve", "ann");
    assert.equal(status, 409);
    assert.match(
      body.detail,
      /has ended: The fault is gone\. INC-\w+ is closed, and nothing is left to decide$/,
    );
    const { outcome, ticket_id } = await run.result();
    assert.equal(outcome, "sealed");
    assert.equal(await faulty.starts(), 1);
    const { ticket } = await readTicketRecord(people.store, ticket_id!);
    assert.equal(ticket.resolution, "Found healthy before anything was done");
    await rm(healthy);
  });

  it("is asked for anew where it changes between the vote and the act", async () => {
    const { faulty, run, finding, id } = await asking();
    beforeRepair = async () => {
      beforeRepair = undefined;
      await edit(faulty);
    };
    assert.equal((await people.vote(id, "approve", "ann")).body.status, "approved");
    const next = await nextApproval(finding, id);
    assert.equal(await faulty.starts(), 1);
    assert.match((await getApproval(db(), next))!.grounds.reasons[0]!, /^It is asked for anew: /);
    await people.vote(next, "approve", "ann");
    const { outcome, ticket_id } = await run.result();
    assert.equal(outcome, "sealed");
    assert.equal(await faulty.starts(), 2);
    const { events, receipts } = await readTicketRecord(people.store, ticket_id!);
    assert.ok(events.includes("outdated"));
    assert.ok(!receipts.some(({ category }) => category === "escalation"));
  });

  it("is asked for anew by the next sweep, before anybody votes", async () => {
    const { faulty, run, finding, id } = await asking(true);
    await edit(faulty);
    await people.loop.client.workflow.execute<typeof itsmSweep>(WORKFLOW.itsmSweep, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `sweep-${id}`,
      args: [],
    });
    const next = await nextApproval(finding, id);
    assert.equal(await statusOf(id), "outdated");
    const [, ended] = await listApprovalMoves(db(), id);
    assert.match(ended!.reason!, /restarts it in another way now$/);
    await people.vote(next, "deny", "ann");
    await run.result();
  });

  it("starts the loop again where that has ended, which asks for what is right now", async () => {
    const { faulty, run, finding, id } = await asking();
    await people.vote(id, "deny", "ann");
    await run.result();
    await edit(faulty);
    await people.vote(id, "reopen", "ann");
    const { status, body } = await people.vote(id, "approve", "ann");
    assert.equal(status, 409);
    const next = await nextApproval(finding, id);
    assert.ok(body.detail.includes(next), body.detail);
    await people.vote(next, "approve", "bob");
    const again = people.loop.client.workflow.getHandle<typeof itsmLoop>(run.workflowId);
    assert.equal((await again.result()).outcome, "sealed");
    assert.equal(await faulty.starts(), 2);
  });
});
