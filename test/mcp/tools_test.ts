import assert from "node:assert/strict";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  type CallToolResult,
  type JSONRPCMessage,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { bindTools } from "../../mcp/mod.ts";
import { operations } from "../../operations/mod.ts";
import { splitByContract } from "../../contract/mod.ts";
import { broken, counting, exact, waiting } from "./_operations.ts";
import {
  connect,
  connectHttp,
  getJson,
  startToolServer,
  type TestToolServer,
} from "./_tool_server.ts";

const AUDIT = /^(ledger|mission|compliance)\./;

describe("tools over MCP", () => {
  let server: TestToolServer;
  let full: Client;
  let audit: Client;
  let keyId: string;
  const waits = waiting();
  before(async () => {
    server = await startToolServer({
      extra: [counting, exact, broken, waits.operation],
      settings: { SEALOOP_LIMIT_TOOLS: "1000" },
    });
    const key = await server.key();
    keyId = key.id;
    full = await connect(server.url, key.key);
    audit = await connect(server.url, (await server.key({ scope: "audit" })).key);
  });
  after(async () => {
    await full.close();
    await audit.close();
    await server.stop();
  });

  const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
    await client.callTool({ name, arguments: args }) as CallToolResult;
  const receipt = async (id: unknown) => {
    const [row] = await server.platform.store.asPlatform().query(
      "SELECT payload FROM seal_outbox WHERE id = $1",
      [id],
    );
    return JSON.parse(row!.payload);
  };

  it("are listed with schemas that the SDK's client accepts", async () => {
    const { tools } = await full.listTools();
    const bound = splitByContract(operations).own.flatMap(({ tool }) => Object.keys(tool ?? {}));
    assert.deepEqual(
      tools.map(({ name }) => name).sort(),
      [...bound, "count", "exact", "break", "wait"].sort(),
    );
    for (const tool of tools) {
      assert.equal(tool.inputSchema.type, "object", tool.name);
      assert.equal(tool.inputSchema.additionalProperties, false, tool.name);
      assert.equal(tool.outputSchema, undefined, "the registry has them");
    }
    const { description, annotations } = tools.find(({ name }) => name === "exact")!;
    assert.equal(
      description,
      "Give a number with its fraction. Even where it is nought.",
    );
    assert.equal(annotations?.readOnlyHint, false);
    assert.equal(annotations?.destructiveHint, false);
    assert.equal(tools.find(({ name }) => name === "count")?.annotations?.readOnlyHint, true);
    assert.equal(tools.find(({ name }) => name === "wait")?.annotations?.destructiveHint, true);
    const hinted = (hint: "destructiveHint" | "openWorldHint" | "idempotentHint") =>
      tools.filter(({ annotations }) => annotations?.[hint] && !annotations.readOnlyHint)
        .map(({ name }) => name).filter((name) => !["break", "wait"].includes(name)).sort();
    assert.deepEqual(hinted("destructiveHint"), [
      "approve_sie_finding",
      "itsm_close_ticket",
      "itsm_embed_receipt",
      "itsm_register_webhook",
      "itsm_run_loop",
      "rmm_run_script",
      "soar_trigger",
    ]);
    assert.deepEqual(hinted("openWorldHint"), [
      "crm_book_appointment",
      "crm_send_email",
      "crm_trigger_workflow",
      "itsm_register_webhook",
      "observability_trace",
      "rmm_run_script",
      "soar_trigger",
      "voice_transcribe",
    ]);
    assert.deepEqual(hinted("idempotentHint"), [
      "crm_move_pipeline",
      "itsm_embed_receipt",
      "itsm_trigger_detection",
      "trigger_sie_scan",
    ]);
  });

  it("are listed to an audit key as far as it reaches; others are refused", async () => {
    const names = (await audit.listTools()).tools.map(({ name }) => name);
    assert.ok(names.includes("ledger.search_receipts"));
    assert.deepEqual(names.filter((name) => !AUDIT.test(name)), ["exact"]);
    assert.ok(!(await call(audit, "ledger.search_receipts")).isError);
    const refused = await call(audit, "itsm_create_ticket", { title: "x" });
    assert.equal(refused.isError, true);
    assert.equal(refused._meta?.["sealoop/error"], "Forbidden");
    const { outcome, action, subject } = await receipt(refused._meta?.receipt_id);
    assert.deepEqual([outcome, action, subject], [
      "refused",
      "tickets.create",
      "itsm_create_ticket",
    ]);
  });

  it("return text, structured content and the id of the call's receipt", async () => {
    const args = { title: "Printer jams", severity: "low" };
    const result = await call(full, "itsm_create_ticket", args);
    assert.ok(!result.isError, JSON.stringify(result));
    const [content] = result.content;
    assert.ok(content?.type === "text");
    assert.match(content.text, /^INC-[0-9a-f]{12} \(\w+\): .*; open since /);
    assert.equal(result._meta?.receipt_id, result._meta?.["sealoop/receipt_id"]);
    const sealed = await receipt(result._meta?.receipt_id);
    assert.equal(sealed.category, "tool_call");
    assert.equal(sealed.actor, `key:${keyId}`);
    assert.equal(sealed.subject, "itsm_create_ticket");
    assert.equal(sealed.outcome, "success");
    assert.ok(!JSON.stringify(sealed).includes("Printer"), "arguments stay private");
  });

  it("wrap an output that is no object, and report progress", async () => {
    // Observed on the wire: the SDK's client drops progress that arrives together with the result.
    const { transport } = full;
    const received: JSONRPCMessage[] = [];
    const onmessage = transport!.onmessage!;
    transport!.onmessage = (message, extra) => {
      received.push(message);
      onmessage(message, extra);
    };
    const result = await full.callTool({ name: "count", arguments: {} }, undefined, {
      onprogress: () => {},
    });
    transport!.onmessage = onmessage;
    assert.deepEqual(result.structuredContent, { result: [1, 2, 3] });
    assert.deepEqual(result.content, [{ type: "text", text: "- 1\n- 2\n- 3" }]);
    const progress = received.slice(0, -1).map((message) => "params" in message && message.params);
    const token = progress[0] && progress[0].progressToken;
    assert.deepEqual(
      progress,
      [1, 2, 3].map((n) => ({ progressToken: token, progress: n, total: 3, message: `at ${n}` })),
    );
    assert.ok("result" in received.at(-1)!, "the result comes last");
  });

  it("say what to correct in a wrong input, and seal the refusal", async () => {
    const result = await call(full, "itsm_create_ticket", { titel: "x" });
    assert.equal(result.isError, true);
    const [content] = result.content;
    assert.ok(content?.type === "text");
    assert.match(content.text, /title: Field required/);
    assert.match(content.text, /titel: Unknown field/);
    assert.match(content.text, /Correct the fields/);
    assert.equal((await receipt(result._meta?.receipt_id)).outcome, "refused");
  });

  for (
    const [what, title] of [["U+0000", "a\0b"], ["half a surrogate pair", "a\ud800b"]] as const
  ) {
    it(`refuse ${what}, which no receipt can hold, and seal the refusal`, async () => {
      const result = await call(full, "itsm_create_ticket", { title });
      assert.match(JSON.stringify(result.content), /title: Text contains U\+0000 or half/);
      assert.equal((await receipt(result._meta?.receipt_id)).outcome, "refused");
    });
  }

  it("reveal nothing of an unexpected error", async () => {
    const result = await call(full, "break");
    assert.equal(result.isError, true);
    assert.ok(!JSON.stringify(result).includes("SELECT"));
    assert.ok(!JSON.stringify(result).includes("passwd"));
    assert.match(JSON.stringify(result.content), /request id [0-9a-f-]{36}/);
    assert.equal((await receipt(result._meta?.receipt_id)).outcome, "failed");
  });

  it("of unknown names are an error of the protocol, which is sealed too", async () => {
    const error = await full.callTool({ name: "no_such_tool" }).catch((error) => error);
    assert.ok(error instanceof McpError && error.code === -32602, String(error));
    assert.match(error.message, /Unknown tool: no_such_tool/);
    const sealed = await receipt((error.data as { receipt_id: string }).receipt_id);
    assert.deepEqual([sealed.action, sealed.outcome], ["tools/call", "refused"]);
    assert.ok(!JSON.stringify(sealed).includes("no_such_tool"), "an unknown name may be anything");
    const similar = await full.callTool({ name: "itsm_get_tikcet" }).catch((error) => error);
    assert.match(similar.message, /Unknown tool: itsm_get_tikcet; did you mean itsm_get_ticket\?/);
  });

  it("stop when the client cancels", async () => {
    const cancel = new AbortController();
    const cancelled = full.callTool({ name: "wait", arguments: {} }, undefined, {
      signal: cancel.signal,
    }).catch((error) => error);
    await waits.begun;
    cancel.abort("enough");
    await waits.ended;
    assert.ok(await cancelled);
  });

  it("are described to everybody at /mcp/tools, and counted at /health", async () => {
    const { tools } = await getJson(`${server.url}/mcp/tools`);
    const chosen = await getJson(`${server.url}/mcp/tools?tools=receipts`);
    assert.deepEqual(
      chosen.tools,
      tools.filter(({ group }: { group: string }) => group === "receipts"),
    );
    assert.equal((await fetch(`${server.url}/mcp/tools?tools=recepits`)).status, 422);
    for (const tool of tools) {
      assert.deepEqual(Object.keys(tool), [
        "name",
        "description",
        "group",
        "effect",
        "scopes",
        "inputSchema",
        "outputSchema",
        "annotations",
      ]);
      assert.equal(tool.outputSchema.type, "object", tool.name);
      assert.ok(tool.inputSchema.examples[0], tool.name);
    }
    const { sessions, ...health } = await getJson(`${server.url}/health`);
    assert.ok(sessions >= 2);
    assert.deepEqual(health, {
      status: "ok",
      service: "sealoop-mcp",
      version: "2.2.0",
      transport: "http+sse",
      tools: tools.length,
      auth_required: true,
      rate_limit_per_min: 1000,
      rate_limit_simulate_per_min: 10,
    });
  });

  it("go by names without dots too, where a client asks for them and in calls", async () => {
    const { key } = await server.key();
    const plain = await connectHttp(server.url, key, "?names=plain");
    try {
      const { tools } = await plain.listTools();
      assert.ok(tools.every(({ name }) => !name.includes(".")));
      assert.equal(tools.filter(({ name }) => name === "ledger_verify_chain").length, 1);
      const result = await call(plain, "ledger_verify_chain");
      assert.equal((await receipt(result._meta?.receipt_id)).subject, "ledger.verify_chain");
      assert.ok(!(await call(full, "mission_list_incidents")).isError);
    } finally {
      await plain.close();
    }
  });

  it("take an incident's id by either of its names", async () => {
    const opened = await call(full, "itsm_create_ticket", { title: "Printer prints blank pages" });
    const id = (opened.structuredContent as { ticket_id: string }).ticket_id;
    for (const name of ["get_incident_details", "itsm_get_ticket"]) {
      for (const field of ["ticket_id", "incident_id"]) {
        const result = await call(full, name, { [field]: id, service: null, extra: "" });
        assert.equal((result.structuredContent as { ticket_id: string }).ticket_id, id, name);
      }
    }
  });

  it("give some fields, or all, where a caller asks for them", async () => {
    const some = await call(full, "get_platform_briefing", { fields: ["summary"] });
    assert.deepEqual(Object.keys(some.structuredContent!), ["summary"]);
    const all = await call(full, "get_platform_briefing", { verbose: true });
    assert.ok("ledger" in all.structuredContent!);
    const wrong = await call(full, "get_platform_briefing", { verbose: "maybe" })
      .catch((error) => error);
    assert.match(String(wrong), /verbose has to be true or false/);
  });

  it("have unique names", () => {
    assert.throws(() => bindTools([counting, counting]), /Cannot bind tool count/);
  });
});
