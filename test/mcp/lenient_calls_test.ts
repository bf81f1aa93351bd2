import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { z } from "zod";
import { createInvoke, createToolServerAuth, type Platform } from "../../calls/mod.ts";
import { defineOperation } from "../../contract/mod.ts";
import { safeMakerOf } from "../../processes/mod.ts";
import { serveStdio } from "../../mcp/mod.ts";
import { operations } from "../../operations/mod.ts";
import {
  type Json,
  openStream,
  post,
  startToolServer,
  type TestToolServer,
} from "./_tool_server.ts";

const BOTH = { accept: "application/json, text/event-stream" };

/** Returns its input as it arrived. */
const echo = defineOperation<Platform>()({
  name: "test.echo",
  group: "test",
  summary: "Return the input",
  effect: "read",
  access: "key",
  input: z.object({
    name: z.string().max(20),
    limit: z.number().int().min(1).max(9).default(3),
    ratio: z.number().optional(),
    open: z.boolean().optional(),
    state: z.enum(["new", "old"]).optional(),
    day: z.string().min(3).optional(),
    note: z.string().optional(),
    until: z.string().min(1).nullable().optional(),
    tags: z.array(z.string()).max(3).optional(),
    counts: z.array(z.number()).optional(),
    filter: z.object({ from: z.number().optional(), kind: z.enum(["a", "b"]).optional() })
      .optional(),
    labels: z.record(z.string(), z.string()).optional(),
    mixed: z.union([z.string(), z.number()]).optional(),
  }),
  output: z.object({ input: z.record(z.string(), z.unknown()) }),
  tool: { test_echo: ["full"] },
  example: { input: { name: "x" }, output: { input: {} } },
  run: (input) => Promise.resolve({ input }),
});

type Ask = (method: string, params?: unknown) => Promise<Json>;

describe("a call of a tool", () => {
  let server: TestToolServer;
  let key: string;
  const ends: (() => unknown)[] = [];
  before(async () => {
    server = await startToolServer({
      extra: [echo],
      settings: { SEALOOP_LIMIT_TOOLS: "100000" },
    });
    ({ key } = await server.key());
  });
  after(async () => {
    for (const end of ends) await end();
    await server.stop();
  });

  const lineOf = (method: string, params: unknown) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method, ...(params === undefined ? {} : { params }) });

  async function overHttp(headers: Record<string, string> = {}): Promise<Ask> {
    return async (method, params) => {
      const answer = await post(server.url, "/mcp", key, lineOf(method, params), {
        ...BOTH,
        ...headers,
      });
      const text = await answer.text();
      return JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text);
    };
  }

  async function overSse(): Promise<Ask> {
    const stream = await openStream(server.url, key);
    ends.push(stream.close);
    return async (method, params) => {
      await post(server.url, stream.endpoint, key, lineOf(method, params));
      for (;;) {
        const message = await stream.message();
        if (message.id === 1) return message; // no notification
      }
    };
  }

  async function overStdio(): Promise<Ask> {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const lines = createInterface(output)[Symbol.asyncIterator]();
    const served = await serveStdio({
      operations: [...operations, echo],
      makeSafe: safeMakerOf(server.platform),
      invoke: createInvoke(server.platform),
      auth: createToolServerAuth(server.platform),
      log: server.platform.log,
      key,
      input,
      output,
      onDisconnect: () => {},
    });
    ends.push(served.close);
    const ask: Ask = async (method, params) => {
      input.write(`${lineOf(method, params)}\n`);
      return JSON.parse((await lines.next()).value!);
    };
    await ask("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    return ask;
  }

  const transports = { "Streamable HTTP": () => overHttp(), SSE: overSse, stdio: overStdio };
  for (const [transport, connect] of Object.entries(transports)) {
    describe(`over ${transport}`, () => {
      let ask: Ask;
      before(async () => {
        ask = await connect();
      });

      const call = async (name: string, input: unknown) => {
        const { result, error } = await ask("tools/call", { name, arguments: input });
        assert.ok(result && !result.isError, JSON.stringify(error ?? result));
        return result.structuredContent;
      };
      const refused = async (name: string, input: unknown): Promise<string> => {
        const { result } = await ask("tools/call", { name, arguments: input });
        assert.ok(result?.isError, JSON.stringify(result));
        return result.content[0].text;
      };

      it("takes null, an empty text, an empty list and the text of an object for no arguments", async () => {
        const plain = Object.keys(await call("itsm_dashboard_summary", {}));
        for (const input of [undefined, null, "", [], "{}"]) {
          assert.deepEqual(Object.keys(await call("itsm_dashboard_summary", input)), plain);
        }
        assert.deepEqual(await call("test_echo", '{"name":"x"}'), {
          input: { name: "x", limit: 3 },
        });
      });

      it("takes null and an empty text of an optional field as if absent", async () => {
        await call("itsm_list_tickets", { limit: 5, status: null });
        await call("itsm_list_tickets", { status: "" });
        const nothing = { limit: null, ratio: "", open: null, state: "", day: "", tags: null };
        const filter = { from: null, kind: "" };
        assert.deepEqual(await call("test_echo", { name: "x", ...nothing, filter }), {
          input: { name: "x", limit: 3, filter: {} },
        });
      });

      it("keeps null and an empty text where they mean something", async () => {
        const input = { name: "", note: "", until: null, tags: [""] };
        assert.deepEqual(await call("test_echo", input), { input: { ...input, limit: 3 } });
        assert.match(await refused("test_echo", { name: null }), /^name: /);
      });

      it("takes numbers, truth, lists and objects as texts", async () => {
        assert.equal((await call("itsm_list_tickets", { limit: "5" })).limit ?? 5, 5);
        const input = {
          name: "5",
          limit: "5",
          ratio: " -1.5e1",
          open: "True",
          tags: '["a","b"]',
          counts: ["1", 2],
          filter: '{"from":"7"}',
          labels: '{"a":"1"}',
          mixed: "5",
        };
        assert.deepEqual(await call("test_echo", input), {
          input: {
            name: "5",
            limit: 5,
            ratio: -15,
            open: true,
            tags: ["a", "b"],
            counts: [1, 2],
            filter: { from: 7 },
            labels: { a: "1" },
            mixed: "5",
          },
        });
      });

      it("leaves out the dummy of a tool without arguments, and nothing else", async () => {
        for (const name of ["random_string", "dummy", "_placeholder", "_"]) {
          await call("itsm_dashboard_summary", { [name]: "x" });
        }
        assert.match(await refused("itsm_dashboard_summary", { service: "x" }), /Unknown field/);
        assert.match(await refused("test_echo", { name: "x", dummy: "x" }), /Unknown field/);
      });

      it("is refused where a value means nothing", async () => {
        const wrong = [
          [{ limit: "five" }, /^limit: /],
          [{ limit: "5 tickets" }, /^limit: /],
          [{ limit: "0x5" }, /^limit: /],
          [{ limit: "10" }, /^limit: .*at most 9/],
          [{ limit: [5] }, /^limit: /],
          [{ open: "yes" }, /^open: /],
          [{ state: "closed" }, /^state: /],
          [{ tags: "a" }, /^tags: /],
          [{ tags: "[1]" }, /^tags\.0: /],
          [{ labels: "[]" }, /^labels: /],
          [{ filter: '{"from":1,"from":2}' }, /^filter: /],
        ] as const;
        for (const [input, expected] of wrong) {
          assert.match(await refused("test_echo", { name: "x", ...input }), expected);
        }
      });

      it("does without params and with null in them", async () => {
        for (const params of [undefined, null, {}, [], { cursor: null, _meta: null }]) {
          const { result } = await ask("tools/list", params);
          assert.ok(result.tools.some(({ name }: Json) => name === "itsm_list_tickets"));
        }
        const { result } = await ask("tools/call", {
          name: "itsm_dashboard_summary",
          arguments: {},
          _meta: { progressToken: null, "example.com/trace": { id: 1 } },
        });
        assert.ok(!result.isError, JSON.stringify(result));
      });

      it("says what is wrong with a call that names no tool", async () => {
        for (const params of [undefined, null, {}, { name: null }, { name: 5 }]) {
          const { error } = await ask("tools/call", params);
          assert.equal(error?.code, -32602, JSON.stringify(error));
        }
      });
    });
  }

  it("is served whatever wildcards the client accepts", async () => {
    const body = lineOf("tools/call", { name: "itsm_dashboard_summary" });
    for (const accept of ["*/*", "application/*, text/*", BOTH.accept]) {
      const answer = await post(server.url, "/mcp", key, body, { accept });
      assert.equal(answer.status, 200, accept);
      assert.ok((await answer.json() as Json).result.structuredContent, accept);
    }
  });

  it("opens a session whatever version the header names before one is agreed on", async () => {
    for (const version of ["2025-06-18", "2024-10-07", "2099-01-01", "1.0"]) {
      const ask = await overHttp({ "mcp-protocol-version": version });
      const { result, error } = await ask("initialize", {
        protocolVersion: version,
        capabilities: null,
        clientInfo: { name: "test", version: "1" },
      });
      assert.match(result?.protocolVersion, /^20\d\d-\d\d-\d\d$/, JSON.stringify(error));
    }
  });
});
