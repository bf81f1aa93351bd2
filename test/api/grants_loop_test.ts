import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import { progressQuery, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { findManagedProcess } from "../../integrations/host/mod.ts";
import { stopProcess } from "../../runtime/embedded/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { testFolder } from "../_run.ts";
import { createAuthenticator } from "../ledger/passkeys/_authenticator.ts";
import { type BrokenService, startBrokenService } from "../workflows/_broken_service.ts";
import { runbookStep, writeRunbooks } from "../workflows/_runbooks.ts";
import { readTicketRecord } from "../workflows/_ticket_record.ts";
import { openBrowser } from "./_browser_session.ts";
import { judgeEvidence } from "./_judge_evidence.ts";
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

describe("a standing grant of a repair", () => {
  let people: People;
  let faulty: BrokenService;
  before(async () => {
    const runbooks = join(await testFolder(), "runbooks");
    await writeRunbooks(runbooks, { "ask-first": ASK_FIRST });
    people = await openPeople({ SEALOOP_RUNBOOKS: runbooks });
    const place = { store: people.store, dataDir: people.loop.config.dataDir };
    faulty = await startBrokenService(place, { name: `asks-${randomBytes(3).toString("hex")}` });
  });
  after(async () => {
    await faulty?.remove();
    await people?.stop();
  });

  /** Starts a loop against a fault. */
  async function startLoop() {
    const finding = await createServiceFinding(people.store, faulty.service, "refused");
    const run = await people.loop.client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
    return { run, finding };
  }

  const asked = async ({ run }: Awaited<ReturnType<typeof startLoop>>) =>
    await people.eventually(async () => {
      const { approval_id } = await run.query(progressQuery);
      const known = approval_id && await getApproval(people.store.asPlatform(), approval_id);
      return known && known.moves > 0 ? approval_id : undefined;
    });

  it("lets the loop heal without asking, is named in its receipts, and asks again once it is used up", async () => {
    const first = await startLoop();
    const id = await asked(first);
    const ann = await openBrowser(people, "ann");
    const phone = createAuthenticator("localhost", people.platform.urls.gateway);
    await ann.enrol(phone);
    const wish = { approval_ids: [id], max_uses: 1, expires_in_seconds: 600 };
    const { body } = await ann.call("POST", "/v1/console/grants/statement", wish);
    const made = await ann.call("POST", "/v1/console/grants", {
      approval_ids: [id],
      passkey: { challenge_id: body.challenge_id, assertion: phone.assert(body.challenge) },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { grant_id } = made.body;
    await people.vote(id, "deny", "bob");
    await first.run.result();
    assert.equal(await faulty.starts(), 1, "what waits is not granted, but decided");

    const second = await startLoop();
    const { outcome, ticket_id } = await second.run.result();
    assert.equal(outcome, "sealed");
    assert.equal(await faulty.starts(), 2);
    const { events, receipts } = await readTicketRecord(people.store, ticket_id!);
    const since = events.slice(events.lastIndexOf("taken_over"));
    assert.ok(since.includes("granted") && !since.includes("approval_requested"), events.join());
    const used = receipts.find(({ category }) => category === "grant")!;
    assert.deepEqual([used.action, used.details.grant, used.details.use], [
      "grant.used",
      grant_id,
      1,
    ]);
    const lines = await judgeEvidence(people.store, grant_id);
    assert.ok(lines.some((line) => /has 1 use, 1 of them opened/.test(line)), lines.join("\n"));
    const closed = receipts.find(({ details }) =>
      (details.permission as { grant?: string } | undefined)?.grant === grant_id
    );
    assert.ok(closed, JSON.stringify(receipts.map(({ category }) => category)));
    const report = await people.call("GET", `/v1/itsm/tickets/${ticket_id}?postmortem=true`, "ann");
    assert.match(JSON.stringify(report.body), new RegExp(`standing grant.*${grant_id}`));

    const { dataDir } = people.loop.config;
    await stopProcess(findManagedProcess(dataDir, faulty.service.name)!, "SIGKILL", 0);
    const third = await startLoop();
    const again = await asked(third);
    await people.vote(again, "deny", "bob");
    await third.run.result();
    assert.equal(await faulty.starts(), 2, "it is used up");
  });
});
