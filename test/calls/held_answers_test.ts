import assert from "node:assert/strict";
import { hasDryRun } from "../../contract/mod.ts";
import { operations } from "../../operations/mod.ts";
import { exampleTicket } from "../../operations/schemas/mod.ts";
import { openTicket } from "../../store/incidents/mod.ts";
import { ask, type Route, routesOf } from "../api/_example_requests.ts";
import { openPeople, type People } from "../api/_people.ts";
import { createAnswerCheck } from "../_described_answers.ts";
import { setGovernance } from "../_governance.ts";
import { giveKey } from "../_superuser.ts";
import { serveNoEngine } from "../workflows/_loop.ts";

describe("the answer to a call that is held", () => {
  let people: People;
  let key: string;
  before(async () => {
    people = await openPeople({}, [], serveNoEngine);
    ({ key } = await giveKey(people.store, { tier: "admin", principal: "Admin" }));
    await setGovernance(people.store, {
      max_waiting_per_key: 1_000,
      rules: [{ name: "ask", then: "needs_approval", guardrails: false }],
    });
  });
  after(() => people?.stop());

  /** Opens the ticket that examples are about. */
  async function openExampleTicket(): Promise<void> {
    await openTicket(people.store.db, {
      id: exampleTicket.ticket_id,
      title: exampleTicket.title,
      description: "",
      severity: "high",
      phase: "diagnosed",
      service: null,
      fingerprint: null,
      workflowId: null,
      runId: null,
      requestedBy: "test",
    });
  }

  it("is as the operation's description says, in each group of operations", async () => {
    await openExampleTicket();
    const check = createAnswerCheck(operations);
    const routes = routesOf(operations).filter(canBeHeld);
    const answers = await Promise.all(routes.map(async (route) => {
      const answer = await ask(people.url, route, { "x-api-key": key });
      assert.equal(check({ ...answer, operationId: route.id }), undefined);
      const isHeld = answer.status === 202 && answer.body.governance?.status === "pending";
      return { group: route.operation.group, isHeld, id: route.id, answer };
    }));
    const groups = new Set(answers.map(({ group }) => group));
    assert.ok(groups.size > 5);
    for (const group of groups) {
      const own = answers.filter((one) => one.group === group);
      assert.ok(own.some(({ isHeld }) => isHeld), JSON.stringify(own));
    }
  });
});

/** Returns true where governance can ask people about a route's operation. The examples of some are about what is not there. */
function canBeHeld({ operation }: Route): boolean {
  const { humanControl, asksPeople } = operation.governance ?? {};
  return hasDryRun(operation) && !humanControl && !asksPeople;
}
