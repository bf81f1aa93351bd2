import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { WorkflowFailedError } from "@temporalio/client";
import { CancelledFailure } from "@temporalio/common";
import { closeActivities, repairEffectOf } from "../../activities/incidents/mod.ts";
import { findManagedProcess } from "../../integrations/host/mod.ts";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import { stopProcess } from "../../runtime/embedded/mod.ts";
import {
  type Action,
  type Finding,
  type LoopResult,
  progressQuery,
  type StepResult,
  TASK_QUEUE,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import {
  getTicket,
  listTicketEvents,
  listTickets,
  openTicket,
  resolveTicket,
} from "../../store/incidents/mod.ts";
import { listMessages } from "../../store/notices/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import type { itsmLoop, reconcileRuns } from "../../workflows/mod.ts";
import { eventually } from "../_time.ts";
import { type BrokenService, heldRestart, startBrokenService } from "./_broken_service.ts";
import { openLoop, type TestLoop, type Watch } from "./_loop.ts";
import { readTicketRecord } from "./_ticket_record.ts";

describe("itsmLoop", () => {
  let loop: TestLoop;
  let watch: Watch = () => {};
  const brokenServices: BrokenService[] = [];
  let inVain: Promise<LoopResult>;

  before(async () => {
    loop = await openLoop({ watch: (...seen) => watch(...seen) });
    // It takes fifteen seconds, so it runs beside the other tests.
    inVain = run(
      await broken(
        "in-vain",
        () => ({ command: ["echo", "nothing to do, password=hunter2secret"] }),
      ),
    );
    inVain.catch(() => {});
  });
  beforeEach(() => {
    watch = () => {};
  });
  after(async () => {
    for (const faulty of brokenServices) await faulty.remove();
    await loop?.stop();
  });

  async function broken(
    name: string,
    runbook?: Parameters<typeof startBrokenService>[1]["runbook"],
  ) {
    const place = { store: loop.store, dataDir: loop.config.dataDir };
    const faulty = await startBrokenService(place, { name, runbook });
    brokenServices.push(faulty);
    return faulty;
  }

  async function start({ service }: BrokenService) {
    const finding = await createServiceFinding(loop.store, service, "refused");
    return await loop.client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
  }
  const run = async (faulty: BrokenService) => await (await start(faulty)).result();
  const recordOf = (ticketId: string) => readTicketRecord(loop.store, ticketId);
  /** Returns true if an activity belongs to the loop of a service, as other loops run beside it. */
  const isOf = ({ service }: BrokenService, [order]: readonly unknown[]) =>
    (order as { finding: Finding }).finding.service === service.name;

  /** Waits until the command of the repair runs. @returns id of the ticket */
  async function repairing(handle: Awaited<ReturnType<typeof start>>): Promise<string> {
    return await eventually(async () => {
      const { ticket_id } = await handle.query(progressQuery);
      if (!ticket_id) return undefined;
      const { effects: [effect] } = await recordOf(ticket_id);
      return effect?.state === "intended" ? ticket_id : undefined;
    });
  }

  it("escalates if there is no runbook", async () => {
    const result = await run(await broken("bare", () => null));
    assert.equal(result.outcome, "escalated");
    assert.deepEqual(result.steps.map(({ step }) => step), [
      "DETECT",
      "TICKET",
      "DIAGNOSE",
      "CLOSE+SEAL",
    ]);
    const { ticket, events, receipts, effects } = await recordOf(result.ticket_id!);
    assert.deepEqual([ticket.status, ticket.escalated, ticket.phase], ["open", true, "sealed"]);
    assert.equal(ticket.receipt_id, result.receipt_id);
    assert.deepEqual(events, ["detected", "opened", "diagnosed", "escalated"]);
    assert.deepEqual(receipts.map(({ category }) => category), ["ticket_opened", "escalation"]);
    assert.equal(receipts.at(-1)!.details.reason, "no_runbook");
    assert.deepEqual(effects, []);
    const told = { kind: "incident.escalated", ticketId: result.ticket_id! } as const;
    const { messages } = await listMessages(loop.store.asPlatform(), told, 1);
    assert.match(
      messages[0]!.text,
      /^No runbook fits what was found\. .+ A person has to act now\. .+ the next sweep tries again;/,
    );
  });

  it("seals a cited past incident by its id alone, as its text is private", async () => {
    const ticket_id = "INC-0123456789ab";
    await openTicket(loop.store.asPlatform(), {
      id: ticket_id,
      title: "x",
      description: "",
      severity: "low",
      phase: "diagnosed",
      service: null,
      fingerprint: null,
      workflowId: null,
      runId: null,
      requestedBy: "test",
    });
    const sha256 = "0".repeat(64);
    const diagnosis = {
      symptom: "reported",
      cause: null,
      cause_confidence: 0,
      observations: [],
      alternatives: [],
      basis: "words" as const,
      classification: null,
      citations: [{ id: "dns-slow", sha256 }, { id: "INC-ba9876543210", sha256 }],
      passed_over: [],
      action: null,
    };
    await closeActivities(loop).closeAndSeal({
      ticket_id,
      finding: {
        service: null,
        check: "report",
        code: "reported",
        fingerprint: "0123456789abcdef",
        observed_at: new Date().toISOString(),
      },
      run: { workflow_id: "loop-citing", run_id: randomUUID() },
      summary: { outcome: "escalated", reason: "no_runbook", diagnosis, rounds: 1 },
    });
    const { receipts: [receipt] } = await recordOf(ticket_id);
    assert.deepEqual((receipt!.details.diagnosis as { citations: unknown }).citations, [
      { id: "dns-slow", sha256 },
      { id: "INC-ba9876543210" },
    ]);
  });

  it("seals the severity that the detectors gave", async () => {
    const { service, release } = await broken("found-often", heldRestart);
    const finding = {
      ...await createServiceFinding(loop.store, service, "refused"),
      severity: "critical" as const,
    };
    const handle = await loop.client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
    const ticketId = await repairing(handle);
    await release();
    await handle.result();
    const { ticket, receipts } = await recordOf(ticketId);
    const { ticket: said, diagnosis } = receipts.at(-1)!.details;
    assert.deepEqual(said, { severity: "critical", category: ticket.category });
    assert.equal(ticket.severity, "critical");
    assert.equal((diagnosis as { severity: string }).severity, "critical");
  });

  it("reports the code of the last step that changed something", () => {
    const step = (kind: string, state: "done" | "not_done", code: string, ok = true) => ({
      id: kind,
      step: kind,
      kind,
      state,
      ok,
      code,
    });
    const moved = step("clean", "done", "moved_elsewhere");
    const kept = step("purge", "not_done", "kept_elsewhere");
    const action = { id: "a", steps: [] } as unknown as Action;
    const of = (...steps: StepResult[]) => repairEffectOf(action, steps).code;
    assert.equal(of(moved, kept), "moved_elsewhere");
    assert.equal(of(moved, step("wait", "done", "healthy")), "moved_elsewhere");
    assert.equal(of(kept), "kept_elsewhere");
    assert.equal(of(moved, step("command", "done", "exit_1", false)), "exit_1");
  });

  it("makes an action anew whose service has changed since the diagnosis, and does only that", async () => {
    const faulty = await broken("changed");
    const { command } = (faulty.service.restart as { process: { command: string[] } }).process;
    const restart = { process: { command: [...command, "again"] } };
    watch = async (moment, activity, order) => {
      if (moment !== "before" || activity !== "remediate" || !isOf(faulty, order)) return;
      await putService(loop.store.asPlatform(), { ...faulty.service, restart });
    };
    const result = await run(faulty);
    assert.equal(result.outcome, "sealed");
    assert.deepEqual(result.steps.map(({ step, state, round }) => [step, state, round]).slice(2), [
      ["DIAGNOSE", "diagnosed", 1],
      ["REMEDIATE", "failed", 1],
      ["DIAGNOSE", "diagnosed", 2],
      ["REMEDIATE", "remediated", 2],
      ["VERIFY", "verified", 2],
      ["CLOSE+SEAL", "sealed", 2],
    ]);
    const { receipts, events, effects } = await recordOf(result.ticket_id!);
    assert.equal(events.filter((kind) => kind === "outdated").length, 1);
    assert.deepEqual(receipts.map(({ category }) => category), [
      "ticket_opened",
      "guardrail_verdict",
      "guardrail_verdict",
      "repair_intended",
      "self_heal",
    ]);
    assert.deepEqual(effects.map(({ state }) => state), ["done"]);
    assert.equal(await faulty.starts(), 2);
  });

  it("leaves an action to people that is another one again and again before it is done", async () => {
    const faulty = await broken("restless");
    let edits = 0;
    watch = async (moment, activity, order) => {
      if (moment !== "before" || activity !== "remediate" || !isOf(faulty, order)) return;
      const restart = { command: ["false", String(edits++)] };
      await putService(loop.store.asPlatform(), { ...faulty.service, restart });
    };
    const { outcome, ticket_id } = await run(faulty);
    assert.equal(outcome, "escalated");
    assert.equal(edits, 21);
    const { receipts, effects } = await recordOf(ticket_id!);
    assert.equal(receipts.at(-1)!.details.reason, "outdated");
    assert.deepEqual(effects, []);
  });

  it("does nothing if somebody has closed the ticket meanwhile", async () => {
    const faulty = await broken("closed");
    watch = async (moment, activity, order) => {
      if (moment !== "before" || activity !== "remediate" || !isOf(faulty, order)) return;
      const [{ ticket_id }] = order as [{ ticket_id: string }];
      await resolveTicket(loop.store.asPlatform(), ticket_id, {
        outcome: "resolved",
        resolution: "by hand",
        receiptId: "people",
      });
    };
    const result = await run(faulty);
    const { ticket, events, receipts } = await recordOf(result.ticket_id!);
    assert.equal(await faulty.starts(), 1);
    assert.deepEqual([ticket.status, ticket.phase, ticket.receipt_id], [
      "resolved",
      "sealed",
      "people",
    ]);
    assert.equal(events.at(-1), "run_ended");
    assert.equal(receipts.at(-1)!.details.reason, "Conflict");
  });

  it("is one loop with one ticket and one repair if the fault is found fifty times at once", async () => {
    const faulty = await broken("fifty", heldRestart);
    const finding = await createServiceFinding(loop.store, faulty.service, "refused");
    const handles = await Promise.all(
      Array.from(
        { length: 50 },
        () =>
          loop.client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
            taskQueue: TASK_QUEUE.itsm,
            workflowId: `loop-${finding.fingerprint}`,
            workflowIdConflictPolicy: "USE_EXISTING",
            args: [finding],
          }),
      ),
    );
    await faulty.release();
    assert.equal(new Set(handles.map((handle) => handle.firstExecutionRunId)).size, 1);
    assert.equal((await handles[0]!.result()).outcome, "sealed");
    assert.equal(await faulty.starts(), 2);
    const tickets = await loop.store.asPlatform().query(
      "SELECT id FROM tickets WHERE fingerprint = $1",
      [finding.fingerprint],
    );
    assert.equal(tickets.length, 1);
    assert.equal((await recordOf(tickets[0]!.id)).effects.length, 1);
  });

  it("ends sealed when it is cancelled, after its repair has ended", async () => {
    const faulty = await broken("cancelled", heldRestart);
    const handle = await start(faulty);
    const ticketId = await repairing(handle);
    await handle.cancel();
    await handle.query(progressQuery); // when it answers, it has seen the cancellation
    assert.equal((await handle.describe()).status.name, "RUNNING");
    assert.equal((await recordOf(ticketId)).ticket.escalated, false);
    await faulty.release();
    await assert.rejects(
      handle.result(),
      (error) => error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure,
    );
    const { ticket, events, receipts, effects } = await recordOf(ticketId);
    assert.deepEqual([ticket.status, ticket.escalated, ticket.phase], ["open", true, "sealed"]);
    assert.deepEqual(effects.map(({ state }) => state), ["done"]);
    assert.deepEqual(events, [
      "detected",
      "opened",
      "diagnosed",
      "permitted",
      "intended",
      "remediated",
      "escalated",
    ]);
    const { id, category, outcome, details } = receipts.at(-1)!;
    assert.deepEqual([id, category, outcome], [ticket.receipt_id, "escalation", "escalated"]);
    assert.deepEqual([details.reason, details.effect], ["cancelled", "done"]);
  });

  it("is sealed once when somebody has terminated it", async () => {
    const faulty = await broken("terminated", heldRestart);
    let left = () => {};
    const ended = new Promise<void>((resolve) => left = resolve);
    watch = (moment, activity, order) => {
      if (moment === "after" && activity === "remediate" && isOf(faulty, order)) left();
    };
    const handle = await start(faulty);
    const ticketId = await repairing(handle);
    await handle.terminate("by hand");
    const reconcile = async () =>
      await loop.client.workflow.execute<typeof reconcileRuns>(WORKFLOW.reconcileRuns, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: "reconcile",
      });
    assert.deepEqual(await reconcile(), { sealed: 1 });
    assert.deepEqual(await reconcile(), { sealed: 0 });
    await faulty.release();
    await ended; // the repair still records its end, but the ticket stays sealed
    await loop.sealer.sealed((await recordOf(ticketId)).ticket.receipt_id!);
    const { ticket, events, receipts, effects } = await recordOf(ticketId);
    assert.deepEqual([ticket.status, ticket.escalated, ticket.phase], ["open", true, "sealed"]);
    assert.deepEqual(effects.map(({ state }) => state), ["unknown"]);
    assert.deepEqual(events, [
      "detected",
      "opened",
      "diagnosed",
      "permitted",
      "intended",
      "escalated",
      "remediated",
    ]);
    const { id, category, action, outcome, details } = receipts.at(-1)!;
    assert.deepEqual([id, category, action, outcome], [
      ticket.receipt_id,
      "escalation",
      "run.ended",
      "unknown",
    ]);
    assert.deepEqual([details.status, details.unknown_effects], ["TERMINATED", 1]);
  });

  it("heals a service four times within an hour, and leaves the fifth fault to people", async () => {
    const faulty = await broken("crashes");
    const outcomes: string[] = [];
    for (let n = 0; n < 5; n++) {
      outcomes.push((await run(faulty)).outcome);
      const managed = findManagedProcess(loop.config.dataDir, "crashes");
      if (managed) await stopProcess(managed, "SIGKILL", 0);
    }
    assert.deepEqual(outcomes, [...Array(4).fill("sealed"), "escalated"]);
    assert.equal(await faulty.starts(), 5);
    const all = await listTickets(loop.store.asPlatform(), { service: "crashes", limit: 10 });
    const ticket = all.find(({ escalated }) => escalated);
    const events = await listTicketEvents(loop.store.asPlatform(), ticket!.ticket_id);
    const { passed_over } = events.find(({ kind }) => kind === "diagnosed")!.data;
    const codes = (passed_over as { runbook: string; code: string }[])
      .filter(({ runbook }) => runbook === "restart-service").map(({ code }) => code);
    assert.deepEqual(codes, ["comes_back"]);
    const problem = (await getTicket(loop.store.asPlatform(), ticket!.problem_id!))!;
    assert.match(problem.title, /^Problem: crashes fails again and again/);
    assert.match(
      problem.description,
      /^crashes has failed 5 times within the hour, at (?:\d\d:\d\d:\d\d(?:, )?){5} UTC\. The times between were /,
    );
    assert.equal(all.filter(({ problem_id }) => problem_id === problem.ticket_id).length, 5);
    const messages = await loop.store.asPlatform().query<{ text: string }>(
      "SELECT text FROM messages WHERE kind = 'incident.escalated' AND refs ->> 'ticket_id' = $1",
      [ticket!.ticket_id],
    );
    assert.match(
      messages[0]!.text,
      /comes back: its cause is another one.*crashes has failed 5 times/,
    );
  });

  it("escalates where its repair did not help, and does not repeat it", async () => {
    const result = await inVain;
    assert.equal(result.outcome, "escalated");
    const rounds = result.steps.filter(({ step }) => step === "VERIFY");
    assert.deepEqual(rounds.map(({ state, round }) => [state, round]), [["failed", 1]]);
    const { ticket, receipts, effects } = await recordOf(result.ticket_id!);
    assert.deepEqual([ticket.status, ticket.escalated, ticket.phase], ["open", true, "sealed"]);
    assert.deepEqual(effects.map(({ state }) => state), ["done"]);
    assert.deepEqual(receipts.map(({ category }) => category), [
      "ticket_opened",
      "guardrail_verdict",
      "repair_intended",
      "escalation",
    ]);
    assert.deepEqual([receipts.at(-1)!.details.reason, receipts.at(-1)!.details.rounds], [
      "not_healed",
      1,
    ]);
    const events = await listTicketEvents(loop.store.asPlatform(), result.ticket_id!);
    const { printed } = events.find(({ kind }) => kind === "remediated")!.data;
    assert.equal(printed, "nothing to do, password=[secret]");
    const last = events.findLast(({ kind }) => kind === "diagnosed")!;
    const passedOver = last.data.passed_over as { runbook: string; code: string }[];
    const tried = passedOver.find(({ runbook }) => runbook === "restart-service");
    assert.equal(tried?.code, "did_not_help");
  });
});
