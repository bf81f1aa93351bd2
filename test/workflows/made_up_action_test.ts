import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RepairRequest } from "../../activities/mod.ts";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { canonicalize } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import { SECRETS } from "../../store/rights/mod.ts";
import { testFolder } from "../_run.ts";
import { storeAs } from "../_servers.ts";
import { type BrokenService, startBrokenService } from "./_broken_service.ts";
import { openLoop, type TestLoop, type Watch } from "./_loop.ts";
import { readTicketRecord } from "./_ticket_record.ts";

/** A restart that nobody need be asked about, and one that a person must be asked about. */
const runbook = (name: string, bounds: string) => `
runbook: ${name}
version: 1.0.0
title: Restart a service
about: It is restarted as its owner has listed.
match: { services: ["${name}-*"] }
needs: [restart]
steps:
  - step: restart
    does: Restarts the service by the entry that the services file has for it.
    restart: service
    bounds: { within: 2m${bounds} }
    undo: { none: A restart has no opposite. }
    never: [Restart another service.]
`;

/** Attacks of somebody who has the tool server's credential for the database, and reaches Temporal. */
describe("a repair, where somebody has the tool server's credential and Temporal", () => {
  let loop: TestLoop;
  let tools: Store;
  let tamper: (request: RepairRequest) => Promise<void>;
  let tampered = 0;
  const brokenServices: BrokenService[] = [];

  before(async () => {
    const runbooks = join(await testFolder(), "runbooks");
    await mkdir(runbooks, { recursive: true });
    await writeFile(join(runbooks, "free.yaml"), runbook("free", ""));
    await writeFile(join(runbooks, "asks.yaml"), runbook("asks", ", ask: this one serves others"));
    const watch: Watch = async (moment, activity, args) => {
      if (moment !== "before" || activity !== "remediate") return;
      const request = args.find((one) => (one as RepairRequest).action) as RepairRequest;
      await tamper(request);
      tampered++;
    };
    loop = await openLoop({ watch, settings: { SEALOOP_RUNBOOKS: runbooks } });
    tools = await storeAs({ url: loop.database.urls.tools }, "tools");
  });
  beforeEach(() => {
    tampered = 0;
  });
  after(async () => {
    for (const faulty of brokenServices) await faulty.remove();
    await loop?.stop();
  });

  /** Runs the loop about a broken service to its end. */
  async function runLoop(name: string) {
    const place = { store: loop.store, dataDir: loop.config.dataDir };
    const faulty = await startBrokenService(place, { name });
    brokenServices.push(faulty);
    const finding = await createServiceFinding(loop.store, faulty.service, "refused");
    const result = await loop.client.workflow.execute(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
    assert.ok(tampered > 0);
    const record = await readTicketRecord(loop.store, result.ticket_id!);
    return { outcome: result.outcome, starts: await faulty.starts(), ...record };
  }

  /** Runs the loop about a broken service until it is left to people, and asserts that nothing was done. */
  async function assertRefused(name: string): Promise<string[]> {
    const { outcome, starts, events, receipts } = await runLoop(name);
    assert.equal(outcome, "escalated");
    assert.equal(starts, 1, "it was not started again");
    assert.ok(!receipts.some(({ category }) => category === "repair_intended"));
    return [...events, String(receipts.at(-1)!.details.reason)];
  }

  /** Adds a verdict to a ticket's timeline, as the tool server may add any event. */
  async function sayPermitted({ ticket_id, run, round, action }: RepairRequest): Promise<void> {
    const verdict = { round, action_id: action.id, decision: "allow", policy_version: "1" };
    await tools.asPlatform().execute(
      `INSERT INTO ticket_events (ticket_id, key, kind, data) VALUES ($1, $2, 'permitted', $3)
       ON CONFLICT DO NOTHING`,
      [ticket_id, `${run.run_id}/permit-${round}`, JSON.stringify(verdict)],
    );
  }

  /** Changes an action, and gives it the id that each secret makes which the tool server can read, one after the other. */
  async function forge(request: RepairRequest, change: Record<string, unknown>): Promise<void> {
    const { finding, ticket_id, code, diagnosis, run, round } = request;
    const action = Object.assign(request.action, change) as Record<string, unknown>;
    const { id: _, sha256: __, ...shown } = action;
    const sha256 = createHash("sha256").update(canonicalize(shown)).digest("hex");
    const { classification, citations } = diagnosis;
    const found = canonicalize({ ticket_id, finding, code, classification, citations });
    const text = ["actions", run.workflow_id, run.run_id, String(round), sha256, found];
    const readable = Object.entries(SECRETS).flatMap(([purpose, roles]) =>
      (roles as readonly string[]).includes("tools") ? [purpose] : []
    );
    const row = await tools.asPlatform().first<Record<string, Buffer>>(
      `SELECT ${readable.join(", ")} FROM platform_secrets`,
    );
    const secret = row![readable[tampered % readable.length]!]!;
    const id = createHmac("sha256", secret).update(JSON.stringify(text)).digest("hex").slice(0, 24);
    Object.assign(action, { sha256, id });
  }

  it("is not done where the action was made up, and a verdict that permits it", async () => {
    tamper = async (request) => {
      const command = { argv: ["touch", join(loop.config.dataDir, "made-up")] };
      const [step] = request.action.steps;
      await forge(request, { steps: [{ ...step, restart: undefined, command }], exceeds: [] });
      await sayPermitted(request);
    };
    assert.equal((await assertRefused("free-made-up")).at(-1), "Conflict");
  });

  it("is not done where the platform's own action comes with other reasons", async () => {
    tamper = (request) => {
      Object.assign(request.finding, { requested_by: "key:0011223344556677" });
      return Promise.resolve();
    };
    assert.equal((await assertRefused("free-reasons")).at(-1), "Conflict");
  });

  it("is not done by a verdict of the timeline, where people have to be asked", async () => {
    tamper = async (request) => {
      await sayPermitted(request);
      setTimeout(() => void deny(request), 500);
    };
    const deny = ({ run }: RepairRequest) =>
      loop.client.workflow.getHandle(run.workflow_id).cancel();
    await assert.rejects(assertRefused("asks-permitted"), /cancel/i);
    assert.equal(await brokenServices.at(-1)!.starts(), 1);
  });

  it("is made anew where what the runbook in force is given has changed", async () => {
    tamper = async ({ action }) => {
      const values = { [action.service]: { wait: "1" } };
      for (const [service, given] of Object.entries(values)) {
        await loop.store.asPlatform().execute(
          `INSERT INTO runbook_values (service, source, given) VALUES ($1, 'test', $2)
           ON CONFLICT (tenant_id, service) DO UPDATE SET given = excluded.given`,
          [service, JSON.stringify(given)],
        );
      }
    };
    const { outcome, starts, events } = await runLoop("free-values");
    assert.deepEqual([outcome, starts], ["sealed", 2]);
    assert.deepEqual([events.filter((kind) => kind === "outdated").length, tampered], [1, 2]);
  });

  it("leaves the tables from which repairs are permitted to the worker alone", async () => {
    const db = tools.asPlatform();
    for (
      const sql of [
        "SELECT FROM repair_verdicts",
        "INSERT INTO repair_verdicts (action_id, frozen, decision, policy_version, receipt_id) VALUES ('a', false, 'allow', '1', 'r')",
        "INSERT INTO effects (id, ticket_id, service, action, action_sha256, state) VALUES ('a', 't', 's', '{}', '', 'done')",
        "UPDATE approvals SET status = 'approved'",
        "INSERT INTO approval_moves (approval_id, number, move, status, receipt_id) VALUES ('a', 1, 'approved', 'approved', 'r')",
        "UPDATE tickets SET run_id = 'mine'",
        "INSERT INTO runbook_values (service, given) VALUES ('shop', '{}')",
        "INSERT INTO findings (fingerprint) VALUES ('f')",
      ]
    ) await assert.rejects(db.query(sql), { code: "42501" }, sql);
  });
});
