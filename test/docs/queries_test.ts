import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { type Finding, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { eventually } from "../_time.ts";
import { openLoop, type TestLoop } from "../workflows/_loop.ts";

/** Rows of the table of queries, with the address that each question leads to. */
const ROWS = [
  ...readFileSync(join(ROOT, "docs", "operating.md"), "utf8")
    .matchAll(/^\| \[([^\]]+)\]\((http\S+\/workflows\?query=\S+)\) +\| `([^`]+)` +\|$/gm),
].map(([, question, address, query]) => ({
  question: question!,
  address: address!,
  query: query!,
}));

describe("the queries that docs/operating.md shows", () => {
  let loop: TestLoop;
  before(async () => {
    loop = await openLoop({ schedules: ["anchor"] });
  });
  after(() => loop?.stop());

  const queryOf = (question: string) => ROWS.find((row) => row.question === question)!.query;
  const find = async (query: string) => {
    const ids: string[] = [];
    for await (const { workflowId } of loop.client.workflow.list({ query })) ids.push(workflowId);
    return ids;
  };

  it("are there, and each question leads to its query in the Web UI", () => {
    assert.ok(ROWS.length >= 10, String(ROWS.length));
    for (const { address, query } of ROWS) {
      assert.equal(new URL(address).searchParams.get("query"), query);
    }
  });

  for (const { question, query } of ROWS) {
    it(`can be asked: ${question}`, async () => {
      assert.ok((await loop.client.workflow.count(query)).count >= 0);
    });
  }

  it("find an incident by its outcome and its receipt, and leave out the runs of schedules", async () => {
    const finding: Finding = {
      service: null,
      check: "report",
      code: "reported",
      fingerprint: "c0ffee0123456789",
      observed_at: new Date().toISOString(),
      report: "The coffee machine is cold",
    };
    const id = `loop-${finding.fingerprint}`;
    const { outcome, receipt_id } = await loop.client.workflow.execute<typeof itsmLoop>(
      WORKFLOW.itsmLoop,
      { taskQueue: TASK_QUEUE.itsm, workflowId: id, args: [finding] },
    );
    assert.equal(outcome, "escalated");
    await loop.client.schedule.getHandle("sealoop-anchor").trigger();
    const scheduled = await eventually(async () => {
      const runs = await find('WorkflowType = "anchorReceipts"');
      return runs.length > 0 ? runs : undefined;
    });
    const behind = queryOf("the run behind a receipt").replace(/"\w+"/, `"${receipt_id}"`);
    for (const query of [queryOf("which loops were left to people"), behind]) {
      assert.deepEqual(
        await eventually(async () => (await find(query)).length > 0 && find(query)),
        [
          id,
        ],
      );
    }
    const others = await find(queryOf("everything but the runs of schedules"));
    assert.ok(others.includes(id) && scheduled.every((one) => !others.includes(one)));
  });
});
