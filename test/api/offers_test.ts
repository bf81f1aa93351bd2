/** People who deny what is asked for, and offer something else instead. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import { loadCatalogue, putInForce } from "../../judgement/runbooks/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { type Finding, progressQuery, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { createDiskWiper } from "../calls/_disk_wiper.ts";
import { setGovernance } from "../_governance.ts";
import { testFolder } from "../_run.ts";
import { type BrokenService, startBrokenService } from "../workflows/_broken_service.ts";
import { countingProgram, runbookStep, writeRunbooks } from "../workflows/_runbooks.ts";
import { approvalCalls } from "./_approvals.ts";
import { openPeople, type People } from "./_people.ts";

const RESTART = { restart: "service" };
const ASKS = { bounds: { within: "2m", ask: "this one serves others" } };

describe("an offer instead of what is asked for", () => {
  const { operation, runs } = createDiskWiper();
  let people: People;
  let noted: Awaited<ReturnType<typeof countingProgram>>;
  const brokenServices: BrokenService[] = [];

  before(async () => {
    const folder = await testFolder();
    noted = await countingProgram(folder, "noted");
    const match = { services: ["asks-*"] };
    await writeRunbooks(join(folder, "runbooks"), {
      "ask-first": {
        match,
        order: 1,
        needs: ["restart"],
        steps: [runbookStep("restart", { ...RESTART, ...ASKS })],
      },
      "another-way": {
        match,
        order: 2,
        needs: ["restart"],
        parameters: { times: { kind: "number", about: "How often.", default: 1 } },
        steps: [
          runbookStep("note", { command: { argv: [noted.path, "{times}"] } }),
          runbookStep("restart", RESTART),
        ],
      },
    });
    const allowed = { name: "noted", about: "A program of the test.", argv: [noted.path, "/\\d/"] };
    await writeFile(join(folder, "runbooks", "commands.yaml"), stringify({ commands: [allowed] }));
    people = await openPeople({ SEALOOP_RUNBOOKS: join(folder, "runbooks") }, [operation]);
    await putInForce(people.store, loadCatalogue(people.loop.config));
  });
  after(async () => {
    for (const faulty of brokenServices) await faulty.remove();
    await people?.stop();
  });
  const { info, receiptsOf } = approvalCalls(() => people);
  const db = () => people.store.asPlatform();
  const offer = (id: string, who: string, body: object) =>
    people.call("POST", `/v1/approvals/${id}/offer`, who, body);

  /** Starts a loop that waits for people. */
  async function asking() {
    const place = { store: people.store, dataDir: people.loop.config.dataDir };
    const name = `asks-${randomBytes(3).toString("hex")}`;
    const faulty = await startBrokenService(place, { name });
    brokenServices.push(faulty);
    const finding = await createServiceFinding(people.store, faulty.service, "refused");
    const run = await people.loop.client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
    return { faulty, run, id: await awaited(finding) };
  }

  const awaited = ({ fingerprint }: Finding) =>
    people.eventually(async () => {
      const run = people.loop.client.workflow.getHandle<typeof itsmLoop>(`loop-${fingerprint}`);
      const { approval_id } = await run.query(progressQuery);
      const known = approval_id && await getApproval(db(), approval_id);
      return known && known.moves > 0 ? approval_id : undefined;
    });

  it("is a new approval by the decider, and the loop goes on with it once another person approves", async () => {
    const { faulty, run, id } = await asking();
    const given = { runbook: "another-way", values: { times: 3 }, reason: "It leaves a note" };
    const { status, body } = await offer(id, "ann", given);
    assert.equal(status, 200, JSON.stringify(body));
    const { denied, offered } = body;
    assert.deepEqual([denied.status, offered.status, offered.requested_by], [
      "denied",
      "pending",
      "ann",
    ]);
    assert.equal(offered.action.runbook, "another-way");
    assert.match(JSON.stringify(offered.action.steps), /noted.*"3"/);
    assert.match(offered.reasons[0], new RegExp(`^Whoever denied ${id} offers this instead$`));
    const [before, now] = [await info(id), await info(offered.approval_id)];
    assert.deepEqual([before.offered, now.instead_of], [offered.approval_id, id]);
    assert.equal(
      (await people.vote(offered.approval_id, "approve", "ann")).status,
      403,
      "it is her own",
    );
    assert.equal((await people.vote(offered.approval_id, "approve", "ann2")).status, 403);
    const reopened = await people.vote(id, "reopen", "bob");
    assert.equal(reopened.status, 409);
    assert.match(reopened.body.detail, /which was offered instead/);
    assert.equal(await faulty.starts(), 1);
    assert.equal(
      (await people.vote(offered.approval_id, "approve", "bob")).body.status,
      "approved",
    );
    assert.equal((await run.result()).outcome, "sealed");
    assert.equal(await faulty.starts(), 2);
    const receipts = [...await receiptsOf(id), ...await receiptsOf(offered.approval_id)];
    const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
    assert.ok(!JSON.stringify(receipts).includes("another-way"));
    assert.ok(
      !JSON.stringify(receipts).includes(people.keyId("ann")),
      "nothing public links her decision",
    );
    assert.ok(!all.some(({ text }) => text.includes(id) && text.includes(offered.approval_id)));
  });

  it("leaves the incident to people where it is denied, too", async () => {
    const { faulty, run, id } = await asking();
    const { body } = await offer(id, "ann", { runbook: "another-way" });
    assert.equal(
      (await people.vote(body.offered.approval_id, "deny", "bob")).body.status,
      "denied",
    );
    assert.equal((await run.result()).outcome, "escalated");
    assert.equal(await faulty.starts(), 1);
  });

  it("is refused where it can't be, and then nothing is denied", async () => {
    const { run, id } = await asking();
    const refused = async (who: string, body: object, status: number, why: RegExp) => {
      const answer = await offer(id, who, body);
      assert.deepEqual(
        [answer.status, why.test(JSON.stringify(answer.body))],
        [status, true],
        JSON.stringify(answer.body),
      );
    };
    await refused("ann", { runbook: "no-such" }, 404, /these do: ask-first, another-way/);
    await refused("ann", { runbook: "ask-first" }, 409, /is what you deny/);
    await refused(
      "ann",
      { runbook: "another-way", values: { size: 1 } },
      422,
      /no such parameter; it has: times/,
    );
    await refused(
      "ann",
      { runbook: "another-way", values: { times: "many" } },
      422,
      /of the kind number/,
    );
    await refused("ann", { arguments: {} }, 422, /about a repair/);
    await refused("program", { runbook: "another-way" }, 403, /may not decide/);
    assert.equal((await info(id)).status, "pending");
    await people.vote(id, "deny", "bob");
    await run.result();
  });

  it("has other arguments of a call run, in the name of who offers them", async () => {
    await setGovernance(people.store, {
      rules: [{
        name: "own",
        when: { tools: ["test_wipe"] },
        then: "needs_approval",
        guardrails: false,
      }],
    });
    const held = await people.call("POST", "/v1/test/wipe", "program", { disk: "sda", passes: 9 });
    const { approval_id } = held.body.governance;
    assert.equal(
      (await offer(approval_id, "ann", { arguments: { disk: "sda", passes: 9 } })).status,
      409,
    );
    assert.equal((await offer(approval_id, "ann", { arguments: { disk: 7 } })).status, 422);
    await people.eventually(async () => (await info(approval_id)).moves.length > 0 || undefined);
    const { status, body } = await offer(approval_id, "ann", {
      arguments: { disk: "sda", passes: 1 },
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.denied.status, body.offered.requested_by], ["denied", "ann"]);
    const id = body.offered.approval_id;
    assert.equal((await people.vote(id, "approve", "ann")).status, 403);
    assert.equal((await people.vote(id, "approve", "bob")).body.status, "approved");
    await people.eventually(async () => (await info(id)).act?.ended_at);
    assert.deepEqual(runs, [{ disk: "sda", passes: 1 }]);
    const again = await people.call("POST", "/v1/test/wipe", "program", { disk: "sda", passes: 9 });
    assert.match(again.body.detail, /a person has denied it/);
  });
});
