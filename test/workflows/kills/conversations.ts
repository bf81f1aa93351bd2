/** Conversations with agents, and with those of other organizations. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { askUpdate, WORKFLOW } from "../../../contract/domain/mod.ts";
import {
  addConversation,
  addQuestion,
  type ConversationMessage,
  listConversationMessages,
} from "../../../store/agents/mod.ts";
import { putService } from "../../../store/cmdb/mod.ts";
import type { Store } from "../../../store/mod.ts";
import { eventually } from "../../_time.ts";
import type { KillRow, KillSubject, Stage } from "../_kill_stage.ts";
import type { HoldPoint } from "../_loop_bench.ts";
import { readReceipts, type Receipt } from "../_ticket_record.ts";

let peer: Server;
/** Messages that have reached the other organization. */
const arrived: string[] = [];

/** Kills of conversations. */
export const conversationKills: KillSubject = {
  open: () => Promise.resolve({ SEALOOP_OUTBOUND_ALLOW: "127.0.0.0/8" }),
  async prepare({ store, dataDir }) {
    peer = createServer((request, response) => void serve(request, response))
      .listen(0, "127.0.0.1");
    await once(peer, "listening");
    const url = `http://127.0.0.1:${(peer.address() as AddressInfo).port}`;
    const file = join(dataDir, "sealoop.peers.yaml");
    writeFileSync(file, `platform: [{ id: noc, name: NOC, url: "${url}" }]\n`);
    await putService(store.asPlatform(), {
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
  },
  close() {
    peer?.close();
    peer?.closeAllConnections();
  },
  rows: [
    answersOnce("after", "takeQuestion"),
    answersOnce("before", "inspectMetrics"),
    answersOnce("after", "composeAnswer"),
    answersOnce("before", "giveAnswer"),
    answersOnce("after", "giveAnswer"),
    sendsOnce("before", 0),
    sendsOnce("after", 1),
  ],
};

function answersOnce(when: HoldPoint["when"], activity: string): KillRow {
  return {
    name: `a conversation answers once: killed ${when} ${activity}`,
    async run(stage) {
      const { store } = stage.bench;
      const { messages } = await askAndKill(stage, "metrics", when, activity);
      assert.deepEqual(messages.map(({ role }) => role), ["user", "agent"]);
      assert.match(messages[1]!.text, /billing fails its check: refused/);
      assert.equal((await receiptsOf(store, messages[1]!)).length, 1);
      const told = await store.asPlatform().query(
        "SELECT FROM messages WHERE refs->>'message_id' = $1",
        [messages[1]!.id],
      );
      assert.equal(told.length, 1, "the feed tells of it once");
    },
  };
}

function sendsOnce(when: HoldPoint["when"], count: number): KillRow {
  return {
    name:
      `a conversation never sends a message to another organization twice: killed ${when} it was sent`,
    async run(stage) {
      const { question, messages } = await askAndKill(stage, "noc", when, "sendPeerMessage");
      assert.equal(arrived.filter((body) => body.includes(question)).length, count);
      assert.equal(messages.length, 2);
      assert.match(messages[1]!.text, /^Nobody can tell whether noc got the message/);
      const receipts = await receiptsOf(stage.bench.store, messages[1]!);
      assert.deepEqual(
        receipts.map(({ category, outcome }) => `${category} ${outcome}`),
        ["agent_asked intended", "agent_asked unknown", "agent_answered unknown"],
      );
    },
  };
}

/** Asks an agent with a worker that is killed at a point, and the next one. @returns the messages, oldest first */
async function askAndKill(
  stage: Stage,
  agent: string,
  when: HoldPoint["when"],
  activity: string,
): Promise<{ question: string; messages: ConversationMessage[] }> {
  const hex = randomBytes(6).toString("hex");
  const [id, question_id] = [`CONV-${hex}`, `MSG-${hex}`];
  const question = `Is billing down? I ask from desk ${hex}`;
  const db = stage.bench.store.asPlatform();
  await db.transaction(async (trx) => {
    await addConversation(trx, { id, keyId: "k", agentId: agent });
    await addQuestion(trx, id, { id: question_id, text: question });
  });
  const { reached } = await stage.hold({ run: hex, when, activity });
  const terms = { idle_seconds: 3_600, max_answers: 10 };
  const request = { conversation_id: id, agent, key_id: "k", ...terms };
  const run = await stage.start(WORKFLOW.conversation, `conversation-${id}`, request);
  await stage.replaced(reached);
  await eventually(async () => (await listConversationMessages(db, id, 10)).total > 1 || undefined);
  await run.executeUpdate(askUpdate, { args: [{ question_id }] }); // the question is told again
  await stage.settled(run);
  return { question, messages: (await listConversationMessages(db, id, 10)).messages.reverse() };
}

/** Returns the receipts about the conversation of an answer. */
async function receiptsOf(store: Store, { receiptId }: ConversationMessage): Promise<Receipt[]> {
  return await eventually(async () => {
    const all = await readReceipts(store);
    const subject = all.find(({ id }) => id === receiptId)?.subject;
    return subject ? all.filter((one) => one.subject === subject) : undefined;
  });
}

/** Serves the agent of another organization. */
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader("content-type", "application/json");
  if (request.method === "GET") {
    response.end(JSON.stringify({
      protocolVersion: "0.3.0",
      name: "NOC",
      description: "-",
      version: "1",
      url: `http://${request.headers.host}/`,
      preferredTransport: "JSONRPC",
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    }));
    return;
  }
  const body = await readText(request);
  const { id } = JSON.parse(body) as { id: unknown };
  arrived.push(body);
  const parts = [{ kind: "text", text: "Line 7 is cut." }];
  const result = { kind: "message", messageId: "r", role: "agent", parts };
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}
