import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { askUpdate, WORKFLOW } from "../../contract/domain/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import {
  addConversation,
  addQuestion,
  type ConversationMessage,
  listConversationMessages,
} from "../../store/agents/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { eventually } from "../_time.ts";
import {
  type KillPoint,
  type LoopBench,
  openLoopBench,
  type WorkerProcess,
} from "./_loop_bench.ts";

// deno-lint-ignore no-explicit-any -- the test looks into it
type Json = any;

const QUEUE = "itsm-conversations";

describe("a conversation whose worker is killed with -9", () => {
  let bench: LoopBench;
  let worker: WorkerProcess;
  let peer: Server;
  /** Messages that have reached the other organization. */
  let arrived = 0;

  before(async () => {
    bench = await openLoopBench({ settings: { SEALOOP_OUTBOUND_ALLOW: "127.0.0.0/8" } });
    peer = createServer((req, res) => void serve(req, res)).listen(0, "127.0.0.1");
    await once(peer, "listening");
    const url = `http://127.0.0.1:${(peer.address() as AddressInfo).port}`;
    const file = join(bench.dataDir, "sealoop.peers.yaml");
    writeFileSync(file, `platform: [{ id: noc, name: NOC, url: "${url}" }]\n`);
    await putService(bench.store.asPlatform(), {
      name: "billing",
      type: "web",
      host: "localhost",
      owner: null,
      origin: "file",
      check: { tcp: "127.0.0.1:1" },
      restart: null,
      watched: false,
      dependsOn: [],
    });
    worker = await bench.worker(QUEUE);
    worker.begin();
  });
  after(async () => {
    peer?.close();
    peer?.closeAllConnections();
    await bench?.close();
  });

  async function serve(req: Json, res: Json): Promise<void> {
    res.setHeader("content-type", "application/json");
    if (req.method === "GET") {
      return res.end(JSON.stringify({
        protocolVersion: "0.3.0",
        name: "NOC",
        description: "-",
        version: "1",
        url: `http://${req.headers.host}/`,
        preferredTransport: "JSONRPC",
        capabilities: {},
        defaultInputModes: [],
        defaultOutputModes: [],
        skills: [],
      }));
    }
    const { id } = JSON.parse(await readText(req));
    arrived++;
    const parts = [{ kind: "text", text: "Line 7 is cut." }];
    const result = { kind: "message", messageId: "r", role: "agent", parts };
    res.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }

  /** Asks an agent, lets the worker die at a point, and starts another. @returns the messages, oldest first */
  async function askAndKill(agent: string, point: KillPoint): Promise<ConversationMessage[]> {
    const hex = randomBytes(6).toString("hex");
    const [id, question_id] = [`CONV-${hex}`, `MSG-${hex}`];
    const db = bench.store.asPlatform();
    await db.transaction(async (trx) => {
      await addConversation(trx, { id, keyId: "k", agentId: agent });
      await addQuestion(trx, id, { id: question_id, text: "Is billing down?" });
    });
    const next = await bench.worker(QUEUE);
    worker.dieAt(point);
    const terms = { idle_seconds: 3_600, max_answers: 10 };
    const run = await bench.client.workflow.start(WORKFLOW.conversation, {
      taskQueue: QUEUE,
      workflowId: `conversation-${id}`,
      args: [{ conversation_id: id, agent, key_id: "k", ...terms }],
    });
    assert.equal(await worker.ended, "SIGKILL");
    worker = next;
    worker.begin();
    await eventually(async () =>
      (await listConversationMessages(db, id, 10)).total > 1 || undefined
    );
    await run.executeUpdate(askUpdate, { args: [{ question_id }] }); // the question is told again
    await eventually(async () => {
      const { raw } = await run.describe();
      return (raw.pendingActivities ?? []).length + (raw.pendingChildren ?? []).length === 0 ||
        undefined;
    });
    return (await listConversationMessages(db, id, 10)).messages.reverse();
  }

  /** Returns the receipts about the conversation of an answer. */
  async function receiptsAbout({ receiptId }: ConversationMessage): Promise<Json[]> {
    return await eventually(async () => {
      const all = (await exportReceipts(bench.store, { from: 0, to: 10_000 }))
        .map(({ text }) => JSON.parse(text));
      const subject = all.find(({ id }) => id === receiptId)?.subject;
      return subject && all.filter((one) => one.subject === subject);
    });
  }

  const points: KillPoint[] = [
    { when: "after", activity: "takeQuestion" },
    { when: "before", activity: "inspectMetrics" },
    { when: "after", activity: "composeAnswer" },
    { when: "before", activity: "giveAnswer" },
    { when: "after", activity: "giveAnswer" },
  ];
  for (const point of points) {
    it(`answers once: killed ${point.when} ${point.activity}`, async () => {
      const messages = await askAndKill("metrics", point);
      assert.deepEqual(messages.map(({ role }) => role), ["user", "agent"]);
      assert.match(messages[1]!.text, /billing fails its check: refused/);
      assert.equal((await receiptsAbout(messages[1]!)).length, 1);
      const told = await bench.store.asPlatform().query(
        "SELECT FROM messages WHERE refs->>'message_id' = $1",
        [messages[1]!.id],
      );
      assert.equal(told.length, 1, "the feed tells of it once");
    });
  }

  for (const [when, count] of [["before", 0], ["after", 1]] as const) {
    it(`never sends a message to another organization twice: killed ${when} it was sent`, async () => {
      arrived = 0;
      const messages = await askAndKill("noc", { when, activity: "sendPeerMessage" });
      assert.equal(arrived, count);
      assert.equal(messages.length, 2);
      assert.match(messages[1]!.text, /^Nobody can tell whether noc got the message/);
      const receipts = await receiptsAbout(messages[1]!);
      assert.deepEqual(
        receipts.map(({ category, outcome }) => `${category} ${outcome}`),
        ["agent_asked intended", "agent_asked unknown", "agent_answered unknown"],
      );
    });
  }
});
