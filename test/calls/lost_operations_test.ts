import assert from "node:assert/strict";
import { settleLostCalls } from "../../calls/recover/mod.ts";
import { registry } from "../../operations/mod.ts";
import type { Store } from "../../store/mod.ts";
import { getHeldCall } from "../../store/approvals/mod.ts";
import { recordFindings } from "../../store/incidents/mod.ts";
import { setGovernance } from "../_governance.ts";
import { eventually } from "../_time.ts";
import { openParts, serveNoEngine } from "../workflows/_loop.ts";
import { putApprovedCall, runApprovedCall } from "./_approved_calls.ts";
import {
  countEscalatedTickets,
  type KilledCall,
  makeOpenDecisionsOld,
  type Moment,
  runAndKill,
} from "./_kills.ts";
import { findRequested, issueAgentKey, type Json } from "./_platform.ts";
import { anyFinding } from "./_records.ts";
import { FINGERPRINT, MOMENTS, recoverableOperations } from "./_recoverable_operations.ts";

const TOKEN = "a-token-that-others-share-0123456789";
const TITLES: Readonly<Record<Moment, string>> = {
  before: "before it ran",
  between: "before its request to Temporal, or before it committed",
  after: "after it ran",
};

describe("a call whose process was killed", () => {
  let parts: Awaited<ReturnType<typeof openParts>>; // without a worker, no run that is started begins
  let store: Store;
  let key: Awaited<ReturnType<typeof issueAgentKey>>;
  before(async () => {
    parts = await openParts({}, serveNoEngine);
    store = parts.store;
    key = await issueAgentKey(store, { tier: "admin" });
    await setGovernance(store, {
      rules: [{ name: "all", when: { tools: ["*"] }, then: "allow", guardrails: false }],
    });
    await recordFindings(store.asPlatform(), [anyFinding(FINGERPRINT)]);
  });
  after(() => parts?.close());

  const operations = recoverableOperations(() => ({ parts, keyId: key.record.id }));

  for (const [round, moment] of MOMENTS.entries()) {
    describe(TITLES[moment], () => {
      const killed = operations.filter(({ moments = MOMENTS }) => moments.includes(moment));
      /** What has committed has its receipt. */
      const isLost = ({ operation }: { readonly operation: string }) =>
        moment !== "after" || !registry.get(operation)!.durability?.commits;
      const inputs = new Map<string, Json>();
      const receipts = new Map<string, Json>();
      const approvalId = `APR-00000000000${round}`;
      // The index makes the actions differ; the finding is found by its fingerprint.
      const approved = { index: round, fingerprint: FINGERPRINT, wait_seconds: 0 };
      let ticketsBefore: number;

      before(async () => {
        for (const { operation, prepare } of killed) inputs.set(operation, await prepare());
        await putApprovedCall(store, {
          approvalId,
          operation: registry.get("security.approve")!,
          as: "approve_sie_finding",
          input: approved,
          keyId: key.record.id,
        });
        ticketsBefore = await countEscalatedTickets(store);
        await runAndKill(
          store,
          [
            ...killed.map(({ operation, as, door = "mcp" }): KilledCall => ({
              moment,
              operation,
              door,
              as,
              input: inputs.get(operation),
              credential: operation.startsWith("a2a.") ? undefined : key.key,
              token: TOKEN,
            })),
            {
              moment,
              operation: "security.approve",
              door: "mcp",
              as: "approve_sie_finding",
              input: approved,
              approvalId,
            },
          ],
          {
            SEALOOP_DATA: parts.config.dataDir,
            SEALOOP_A2A_TOKEN: TOKEN,
            TEMPORAL_ADDRESS: parts.place.address,
            TEMPORAL_NAMESPACE: parts.place.namespace,
          },
        );
        const decisions = await makeOpenDecisionsOld(store);
        assert.equal(decisions.length, killed.length);
        let settled = 0;
        await eventually(async () => {
          settled += await settleLostCalls(parts); // Temporal lists runs a moment late
          return settled === killed.filter(isLost).length || undefined;
        });
        for (const { operation, call_receipt_id } of decisions) {
          receipts.set(operation, await findRequested(store, call_receipt_id));
        }
      });

      const outcome = moment === "after" ? "success" : "not_done";
      for (const { operation, check } of killed) {
        it(`is sealed as ${outcome}: ${operation}`, async () => {
          const receipt = receipts.get(operation);
          assert.deepEqual([receipt.outcome, receipt.action], [outcome, operation]);
          const { found } = receipt.details;
          if (moment === "after") await check(found, inputs.get(operation));
          if (!isLost({ operation }) || moment !== "after") assert.equal(found, undefined);
        });
      }

      it("asks nobody to look, and is settled once", async () => {
        assert.equal(await countEscalatedTickets(store), ticketsBefore);
        assert.equal(await settleLostCalls(parts), 0);
      });

      const state = moment === "after" ? "done" : "refused";
      it(`ends as ${state} if people had approved it`, async () => {
        assert.equal((await runApprovedCall(parts, approvalId)).state, state);
        const { output, error } = (await getHeldCall(store.asPlatform(), approvalId))!;
        if (moment === "after") {
          const { status, workflow_id, finding } = JSON.parse(output!);
          assert.deepEqual([status, workflow_id], ["RUNNING", `loop-${FINGERPRINT}`]);
          assert.deepEqual([finding.fingerprint, finding.index], [FINGERPRINT, 0]);
        } else {
          assert.match(error!.message, /before it did anything, which is proven/);
        }
      });
    });
  }
});
