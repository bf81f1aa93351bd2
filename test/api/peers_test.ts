import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { exportReceipts } from "../../ledger/mod.ts";
import { openPeople, type People } from "./_people.ts";

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

/** Answer of the other organization's server to a message. */
type Answer = "reply" | "task" | "asks" | "refuses" | "breaks" | "drops";

describe("agents of other organizations", () => {
  let people: People;
  let real: { url: string; key: string };
  let peer: Server;
  let answer: Answer = "reply";
  /** Messages that have arrived. */
  const arrived: Json[] = [];

  before(async () => {
    peer = createServer((req, res) => void serve(req, res)).listen(0, "127.0.0.1");
    await once(peer, "listening");
    people = await openPeople({ SEALOOP_OUTBOUND_ALLOW: "127.0.0.0/8" });
    real = await people.tools();
    const credentials = join(people.loop.config.dataDir, "credentials");
    mkdirSync(credentials);
    writeFileSync(join(credentials, "real"), real.key, { mode: 0o600 });
    const { port } = peer.address() as AddressInfo;
    writeFileSync(
      join(people.loop.config.dataDir, "sealoop.peers.yaml"),
      `platform:
  - { id: noc, name: Network operations, url: "http://127.0.0.1:${port}" }
  - { id: gone, name: Nobody there, url: "http://127.0.0.1:9" }
  - { id: real, name: Another sealoop, url: "${real.url}", credential: real }
  - { id: shut, name: Without its credential, url: "${real.url}", credential: lost }
`,
    );
  });
  after(async () => {
    peer?.close();
    peer?.closeAllConnections();
    await people?.stop();
  });

  /** Serves A2A 0.3 as another organization's agent may. */
  async function serve(req: Parameters<typeof readText>[0] & Json, res: Json): Promise<void> {
    const json = (body: object, status = 200) => {
      res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (req.method === "GET") {
      return json({
        protocolVersion: "0.3.0",
        name: "NOC",
        description: "Knows lines",
        url: `http://${req.headers.host}/rpc`,
        preferredTransport: "JSONRPC",
        version: "1",
        capabilities: {},
        defaultInputModes: ["text/plain"],
        defaultOutputModes: ["text/plain"],
        skills: [{ id: "lines", name: "lines", description: "State of lines", tags: [] }],
      });
    }
    const { id, method, params } = JSON.parse(await readText(req));
    const parts = [{ kind: "text", text: "Line 7 is cut.\u200b" }];
    const task = (state: string) => ({
      kind: "task",
      id: "t-1",
      contextId: "c",
      status: { state, message: { kind: "message", messageId: "r", role: "agent", parts } },
    });
    if (method === "tasks/get") return json({ jsonrpc: "2.0", id, result: task("completed") });
    arrived.push(params.message);
    const message = { kind: "message", messageId: "r", role: "agent", parts };
    if (answer === "reply") return json({ jsonrpc: "2.0", id, result: message });
    if (answer === "task") return json({ jsonrpc: "2.0", id, result: task("working") });
    if (answer === "asks") return json({ jsonrpc: "2.0", id, result: task("input-required") });
    if (answer === "breaks") return json({ error: "down" }, 500);
    if (answer === "drops") return void req.socket.destroy();
    json({ jsonrpc: "2.0", id, error: { code: -32602, message: "No such line" } });
  }

  /** Asks as a person, who decides about acts outside, and waits for the answer. */
  async function ask(agent: string, text: string): Promise<Json> {
    const sent = await people.eventually(async () => {
      const answer = await people.call("POST", `/v1/agents/${agent}/message`, "ann", { text });
      return answer.status === 503 ? undefined : answer; // a busy worker did not take it in time
    });
    assert.equal(sent.status, 202, JSON.stringify(sent.body));
    return await people.eventually(async () => {
      const { body } = await people.call("GET", `/v1/agents/${agent}/conversation`, "ann");
      const isIt = body.conversation_id === sent.body.conversation_id && body.total === 2;
      return isIt ? { ...body.messages[0], ...sent.body } : undefined;
    });
  }

  /** Returns the outcomes of the receipts about a conversation, in their order. */
  async function outcomesOf(conversationId: string, receiptId: string): Promise<string[]> {
    await people.sealed(receiptId);
    const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
    return all.map(({ text }) => JSON.parse(text))
      .filter(({ subject }) => subject === conversationId)
      .map(({ category, outcome }) => `${category} ${outcome}`);
  }

  it("are listed for their tenant alone, with what their card says", async () => {
    const { body } = await people.call("GET", "/v1/agents/list", "program");
    const peers = body.agents.filter(({ kind }: Json) => kind === "a2a");
    assert.deepEqual(
      peers.map(({ agent_id, state }: Json) => [agent_id, state]),
      [["noc", "idle"], ["gone", "unreachable"], ["real", "idle"], ["shut", "unreachable"]],
    );
    assert.deepEqual(peers[0].skills, ["lines"]);
    const others = await people.call("GET", "/v1/agents/list", "rival");
    assert.equal(others.body.total, 7);
    assert.equal(
      (await people.call("POST", "/v1/agents/noc/message", "rival", { text: "x" })).status,
      404,
    );
  });

  const cases: readonly [Answer, RegExp, string][] = [
    ["reply", /^Line 7 is cut\.\nThis stands on that agent's word alone/, "done"],
    ["task", /^Line 7 is cut\./, "done"],
    ["asks", /^Line 7 is cut\.$/, "done"],
    ["refuses", /^noc did not get the message: error-32602/, "not_done"],
    ["breaks", /^Nobody can tell whether noc got the message \(status 500\)/, "unknown"],
    ["drops", /^Nobody can tell whether noc got the message \(unreachable\)/, "unknown"],
  ];
  for (const [how, words, state] of cases) {
    it(`get a message once, which is sealed as ${state}: one that ${how}`, async () => {
      answer = how;
      arrived.length = 0;
      const { text, conversation_id, receipt_id, citations } = await ask("noc", `Line 7? ${how}`);
      assert.match(text, words);
      assert.deepEqual(citations, []);
      assert.equal(arrived.length, 1);
      assert.deepEqual(arrived[0].parts.map(({ text }: Json) => text), [`Line 7? ${how}`]);
      const outcomes = await outcomesOf(conversation_id, receipt_id);
      assert.deepEqual(outcomes.slice(0, 2), ["agent_asked intended", `agent_asked ${state}`]);
      assert.match(outcomes[2]!, /^agent_answered /);
    });
  }

  it("that are not there did provably not get the message", async () => {
    const { text } = await ask("gone", "Are you there?");
    assert.match(text, /^gone did not get the message: unreachable/);
  });

  it("answer over A2A as this platform itself does, by a task that is followed", async () => {
    const { text } = await ask("real", "Is INC-000000000000 there?");
    assert.match(text, /^There is no ticket INC-000000000000\./);
    assert.match((await ask("shut", "Hello?")).text, /did not get the message: not configured/);
  });

  it("are asked by a program only after people have approved", async () => {
    arrived.length = 0;
    const { status, body } = await people.call("POST", "/v1/agents/noc/message", "program", {
      text: "Line 8?",
    });
    assert.equal(status, 202, JSON.stringify(body));
    const { approval_id } = body.governance;
    assert.deepEqual(arrived, []);
    answer = "reply";
    assert.equal((await people.vote(approval_id, "approve", "ann")).status, 200);
    await people.eventually(async () => {
      const { body } = await people.call("GET", "/v1/agents/noc/conversation", "program");
      return body.total === 2 || undefined;
    });
    assert.equal(arrived.length, 1);
  });
});
