import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { settleLostCalls } from "../../calls/recover/mod.ts";
import { registry } from "../../operations/mod.ts";
import {
  addLearningItems,
  getHeldCall,
  getLearningItem,
  getTicket,
  listWebhooks,
  recordFindings,
  type Store,
} from "../../store/mod.ts";
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

const TOKEN = "a-token-that-others-share-0123456789";
const FINGERPRINT = "1d0f6a2b9c3e4857";
const MOMENTS = ["before", "between", "after"] as const;
const TITLES: Readonly<Record<Moment, string>> = {
  before: "before it ran",
  between: "before its request to Temporal",
  after: "after it ran",
};

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** An operation whose calls are recovered. */
interface Case {
  readonly operation: string;
  readonly as: string;
  /** Default: mcp. */
  readonly door?: KilledCall["door"];
  /** Default: before and after. */
  readonly moments?: readonly Moment[];
  /** Prepares a call, and returns its input. */
  prepare(): Promise<Json>;
  /** Checks that the effect exists. @param found ids in the receipt of a call with that input */
  check(found: Readonly<Record<string, string>>, input: Json): Promise<void>;
}

describe("a call whose process was killed", function () {
  this.timeout(120_000);
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
    await recordFindings(store.asPlatform(), [{
      fingerprint: FINGERPRINT,
      root: FINGERPRINT,
      detector: "security_scan",
      service: null,
      host: null,
      kind: "platform",
      code: "file_permissions",
      severity: "high",
      summary: "Others may read ledger.key",
      detail: {},
      target: {},
    }]);
  });
  after(() => parts?.close());

  const runDirectly = async (operation: string, input: object, fields: object): Promise<Json> => {
    const signal = new AbortController().signal;
    const call = { caller: { keyId: key.record.id }, signal, progress() {}, ...fields };
    return await registry.get(operation)!.run(input, { ...parts, ...call } as never);
  };
  const openTicket = async (): Promise<string> => {
    const input = { title: "Printer jams", description: "", severity: "low" };
    return (await runDirectly("tickets.create", input, { door: "mcp" })).ticket_id;
  };
  const addLearningItem = async (id: string): Promise<string> => {
    const ticketId = await openTicket();
    const text = "Printer jams\nResolution: Turned the roller";
    await addLearningItems(store.asPlatform(), [{
      id,
      ticket_id: ticketId,
      title: "Printer jams",
      category: "hardware",
      score: 60,
      factors: [],
      passage: {
        id: ticketId,
        kind: "incident",
        category: "hardware",
        title: "Printer jams",
        content: text,
        sha256: sha256(text),
        fault: null,
        terms: { printer: 1 },
        indexed: sha256("printer"),
      },
      state: "queued",
      receipt_id: null,
    }]);
    return id;
  };
  const checkRun = async (found: Readonly<Record<string, string>>, id: RegExp) => {
    assert.match(found.workflow_id!, id);
    const handle = parts.client.workflow.getHandle(found.workflow_id!, found.run_id!);
    assert.equal((await handle.describe()).status.name, "RUNNING");
  };
  let count = 0;
  const newMessage = () => ({
    messageId: `m-${++count}`,
    parts: [{ kind: "text", text: "It is down" }],
  });

  const cases: readonly Case[] = [
    {
      operation: "crew.dispatch",
      as: "dispatch_crew_incident",
      prepare: () => Promise.resolve({ incident: "billing is down" }),
      check: (found) => checkRun(found, /^crew-\w{12}$/),
    },
    {
      operation: "reasoning.invoke",
      as: "invoke_reasoning_pipeline",
      prepare: () => Promise.resolve({ prompt: "What is down?" }),
      check: (found) => checkRun(found, /^reasoning-\w{12}$/),
    },
    {
      operation: "security.approve",
      as: "approve_sie_finding",
      moments: MOMENTS,
      prepare: () => Promise.resolve({ index: 0, fingerprint: FINGERPRINT }),
      check: (found) => checkRun(found, new RegExp(`^loop-${FINGERPRINT}$`)),
    },
    {
      operation: "security.scan",
      as: "trigger_sie_scan",
      moments: MOMENTS,
      prepare: () => Promise.resolve({}),
      check: (found) => checkRun(found, /^security-scan$/),
    },
    {
      operation: "a2a.dispatch",
      as: "a2a_dispatch",
      door: "rest",
      moments: MOMENTS,
      prepare: () => Promise.resolve(newMessage()),
      check: (found) => checkRun(found, /^crew-\w{16}$/),
    },
    {
      operation: "a2a.receive",
      as: "a2a_receive",
      door: "rest",
      moments: MOMENTS,
      prepare: () => Promise.resolve(newMessage()),
      check: async ({ task_id }) => {
        await parts.client.workflow.getHandle(`a2a-${task_id}`).describe();
      },
    },
    {
      operation: "workflows.cancel",
      as: "workflow_cancel",
      door: "rest",
      prepare: async () => {
        const { workflow_id } = await runDirectly("itsm.test", { scenario: "crash" }, {
          door: "rest",
        });
        return { workflow_id };
      },
      check: async ({ workflow_id }, input) => {
        assert.equal(workflow_id, input.workflow_id);
        const { raw } = await parts.client.workflow.getHandle(workflow_id!).describe();
        assert.ok(raw.workflowExtendedInfo?.cancelRequested);
      },
    },
    {
      operation: "tickets.create",
      as: "itsm_create_ticket",
      prepare: () => Promise.resolve({ title: `Printer ${++count} jams` }),
      check: async ({ ticket_id }, { title }) => {
        assert.equal((await getTicket(store.asPlatform(), ticket_id!))?.title, title);
      },
    },
    {
      operation: "tickets.close",
      as: "itsm_close_ticket",
      prepare: async () => ({ ticket_id: await openTicket(), resolution: "Turned the roller" }),
      check: async ({ ticket_id }, { resolution }) => {
        assert.equal((await getTicket(store.asPlatform(), ticket_id!))?.resolution, resolution);
      },
    },
    {
      operation: "webhooks.register",
      as: "itsm_register_webhook",
      prepare: () => Promise.resolve({ url: `https://hooks.example.com/${++count}` }),
      check: async ({ webhook_id }) => {
        const webhooks = await listWebhooks(store.asPlatform(), "test");
        assert.ok(webhooks.some(({ id }) => id === webhook_id));
      },
    },
    {
      operation: "learning.approve",
      as: "approve_learning_item",
      prepare: async () => ({
        item_id: await addLearningItem(`LRN-${String(++count).padStart(12, "0")}`),
      }),
      check: async ({ item_id }) => {
        const item = await getLearningItem(store.asPlatform(), item_id!);
        assert.equal(item?.state, "applied");
      },
    },
  ];

  for (const [round, moment] of MOMENTS.entries()) {
    describe(TITLES[moment], () => {
      const killed = cases.filter(({ moments = ["before", "after"] }) => moments.includes(moment));
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
              ...(operation.startsWith("a2a.") ? { token: TOKEN } : { credential: key.key }),
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
          return settled === killed.length || undefined;
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
          if (moment === "after") await check(receipt.details.found, inputs.get(operation));
          else assert.equal(receipt.details.found, undefined);
        });
      }

      it("asks nobody to look, and is settled once", async () => {
        assert.equal(await countEscalatedTickets(store), ticketsBefore);
        assert.equal(await settleLostCalls(parts), 0);
      });

      const state = moment === "after" ? "done" : "refused";
      it(`is ${state} if people had approved it`, async () => {
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
