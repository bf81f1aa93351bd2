import assert from "node:assert/strict";
import {
  Client as CurrentClient,
  StreamableHTTPClientTransport as CurrentTransport,
} from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import {
  connect,
  connectHttp,
  getJson,
  type Json,
  jsonOf,
  openStream,
  post,
  startToolServer,
  type TestToolServer,
} from "./_tool_server.ts";
import { takeKey } from "../_superuser.ts";

const BOTH = { accept: "application/json, text/event-stream" };
const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const GET_TASK = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tasks/get",
  params: { id: "none" },
});
const FULL_TOOL = "itsm_create_ticket";
const INPUT = { title: "Not for auditors" };

describe("a key of the tool server", () => {
  let server: TestToolServer;
  let key: string;
  before(async () => {
    server = await startToolServer({ settings: { SEALOOP_LIMIT_TOOLS: "1000" } });
    ({ key } = await server.key());
  });
  after(() => server.stop());

  /** Status of a request with a key, by route. */
  const routes: Readonly<Record<string, (key: string | undefined) => Promise<number>>> = {
    "GET /sse": async (key) => {
      const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
      const response = await fetch(`${server.url}/sse`, { headers });
      await response.body?.cancel();
      return response.status;
    },
    "POST /messages of an open session": async (other) => {
      const stream = await openStream(server.url, key);
      const { status } = await post(server.url, stream.endpoint, other, PING);
      stream.close();
      return status;
    },
    "POST /mcp": async (key) => (await post(server.url, "/mcp", key, PING, BOTH)).status,
    "POST /mcp of an open session": async (other) =>
      (await post(server.url, "/mcp", other, PING, { ...BOTH, ...await session() })).status,
    "POST /a2a": async (key) => (await post(server.url, "/a2a", key, GET_TASK)).status,
    "POST /a2a of 1.0": async (key) =>
      (await post(server.url, "/a2a", key, GET_TASK, { "a2a-version": "1.0" })).status,
  };
  const session = async () => {
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    const response = await post(server.url, "/mcp", key, body, BOTH);
    await response.text();
    return { "mcp-session-id": response.headers.get("mcp-session-id")! };
  };
  const revoked = async () => {
    const { key, id } = await server.key();
    await takeKey(server.platform.store, id);
    return key;
  };
  const badKeys: readonly (readonly [string, number, () => Promise<string | undefined>])[] = [
    ["that is missing", 401, () => Promise.resolve(undefined)],
    ["that does not exist", 401, () => Promise.resolve(`slp_partner_${"A".repeat(43)}`)],
    ["that has expired", 401, async () => (await server.key({ expiresAt: new Date(0) })).key],
    ["that is revoked", 401, revoked],
    ["that may approve", 403, async () => (await server.key({ mayApprove: true })).key],
  ];
  for (const [what, status, make] of badKeys) {
    for (const [route, ask] of Object.entries(routes)) {
      it(`${what} is refused by ${route}`, async () => {
        assert.equal(await ask(await make()), status);
      });
    }
  }

  it("in the gateway's header is refused, with the header to use", async () => {
    const needs = "The tool server needs an API key: send Authorization: Bearer <key>";
    const sent: Record<string, string>[] = [{}, { "x-api-key": key }];
    const answers = sent.map(async (headers) => {
      const response = await fetch(`${server.url}/sse`, { headers });
      return [response.status, (await response.json() as { detail: string }).detail];
    });
    assert.deepEqual(await Promise.all(answers), [
      [401, needs],
      [401, `${needs}; x-api-key, which was sent, is for the gateway`],
    ]);
  });

  it("of another client can't use a session by its id", async () => {
    const { key: thief } = await server.key();
    for (
      const route of [
        "POST /messages of an open session",
        "POST /mcp of an open session",
      ]
    ) {
      assert.equal(await routes[route]!(thief), 403, route);
      assert.ok(await routes[route]!(key) < 300, route);
    }
  });

  /** Error and receipt of a tool call, by protocol. */
  const calls: Readonly<Record<string, (key: string) => Promise<[string, string]>>> = {
    "SSE": async (key) => {
      const client = await connect(server.url, key);
      const result = await client.callTool({ name: FULL_TOOL, arguments: INPUT });
      await client.close();
      return endOf(result as CallToolResult);
    },
    "a session of Streamable HTTP": async (key) => {
      const client = await connectHttp(server.url, key);
      const result = await client.callTool({ name: FULL_TOOL, arguments: INPUT });
      await client.close();
      return endOf(result as CallToolResult);
    },
    "Streamable HTTP without a session": async (key) => {
      const params = { name: FULL_TOOL, arguments: INPUT };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
      return endOf((await jsonOf(await post(server.url, "/mcp", key, body, BOTH))).result);
    },
    "the revision without a handshake": async (key) => {
      const client = new CurrentClient({ name: "test", version: "1" }, {
        versionNegotiation: { mode: "auto" },
      });
      const headers = { authorization: `Bearer ${key}` };
      const address = new URL(`${server.url}/mcp`);
      await client.connect(new CurrentTransport(address, { requestInit: { headers } }));
      const result = await client.callTool({ name: FULL_TOOL, arguments: INPUT });
      await client.close();
      return endOf(result as CallToolResult);
    },
    "A2A": async (key) => {
      const parts = [{ kind: "data", data: { skill: FULL_TOOL, arguments: INPUT } }];
      const message = { kind: "message", messageId: "m", role: "user", parts };
      const body = { jsonrpc: "2.0", id: 1, method: "message/send", params: { message } };
      const { error } = await jsonOf(await post(server.url, "/a2a", key, JSON.stringify(body)));
      return [error.data["sealoop/error"], error.data.receipt_id];
    },
    "A2A 1.0": async (key) => {
      const parts = [{ data: { skill: FULL_TOOL, arguments: INPUT } }];
      const message = { messageId: "m", role: "ROLE_USER", parts };
      const body = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } };
      const headers = { "a2a-version": "1.0" };
      const { error } = await jsonOf(
        await post(server.url, "/a2a", key, JSON.stringify(body), headers),
      );
      const name = /scope audit may not call/.test(error.message) ? "Forbidden" : error.message;
      return [name, error.data?.receipt_id ?? await newestReceipt()];
    },
  };
  const endOf = ({ _meta }: CallToolResult): [string, string] => [
    String(_meta?.["sealoop/error"]),
    String(_meta?.receipt_id),
  ];
  const newestReceipt = async () => {
    const [row] = await server.platform.store.asPlatform().query(
      "SELECT id FROM seal_outbox ORDER BY seq DESC LIMIT 1",
    );
    return row!.id;
  };
  for (const [protocol, call] of Object.entries(calls)) {
    it(`of scope audit can't change anything over ${protocol}, and the refusal is sealed`, async () => {
      const { key, id } = await server.key({ scope: "audit" });
      const [error, receiptId] = await call(key);
      assert.equal(error, "Forbidden");
      const [outbox] = await server.platform.store.asPlatform().query(
        "SELECT payload FROM seal_outbox WHERE id = $1",
        [receiptId],
      );
      const { actor, subject, outcome } = JSON.parse(outbox!.payload) as Json;
      assert.deepEqual([actor, subject, outcome], [`key:${id}`, FULL_TOOL, "refused"]);
      assert.deepEqual(await server.platform.store.asPlatform().query("SELECT FROM tickets"), []);
    });
  }

  it("of scope audit sees its six tools; the public list shows all", async () => {
    const audit = await connectHttp(server.url, (await server.key({ scope: "audit" })).key);
    const names = (await audit.listTools()).tools.map(({ name }) => name).sort();
    await audit.close();
    assert.deepEqual(names, [
      "compliance.audit_summary",
      "ledger.search_receipts",
      "ledger.verify_chain",
      "ledger.verify_receipt",
      "mission.cluster_health",
      "mission.list_incidents",
    ]);
    assert.ok((await getJson(`${server.url}/mcp/tools`)).tools.length > names.length);
  });
});
