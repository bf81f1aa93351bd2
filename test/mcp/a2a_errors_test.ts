import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { a2aWorld, type Json, message } from "./_a2a.ts";

describe("A2A's errors", () => {
  const a2a = a2aWorld();
  const { ask, send } = a2a;

  const withPart = (more: object) => ({ message: { ...message(""), parts: [more] } });
  const faults: readonly [string, unknown, number][] = [
    ["tasks/get", { id: "none" }, -32001],
    ["tasks/cancel", { id: "none" }, -32001],
    ["tasks/resubscribe", { id: "none" }, -32001],
    ["message/send", { message: { ...message("Hi"), taskId: "none" } }, -32001],
    ["message/send", {}, -32602],
    ["message/send", { message: { kind: "message" } }, -32602],
    ["message/send", { message: { ...message("Hi"), parts: [] } }, -32602],
    ["message/send", { message: { ...message("Hi"), parts: "Hi" } }, -32602],
    ["message/send", { message: { ...message("Hi"), role: "system" } }, -32602],
    ["message/send", withPart({ kind: "text" }), -32602],
    ["message/send", withPart({ kind: "file" }), -32602],
    ["message/send", withPart({ kind: "sound", text: "la" }), -32602],
    [
      "message/send",
      withPart({ kind: "file", file: { uri: "https://example.com/a.txt" } }),
      -32005,
    ],
    ["message/send", withPart({ kind: "data", data: { skill: "no_such_skill" } }), -32602],
    [
      "message/send",
      { message: message("Hi"), configuration: { acceptedOutputModes: ["image/png"] } },
      -32005,
    ],
    [
      "message/send",
      {
        message: message("Hi"),
        configuration: { pushNotificationConfig: { url: "https://a.example" } },
      },
      -32003,
    ],
    [
      "message/send",
      { message: { ...message("Hi"), metadata: { "sealoop/dry_run": "true" } } },
      -32602,
    ],
    ["message/send", { message: message("Hi"), metadata: { "sealoop/dryrun": true } }, -32602],
    ["message/stream", { message: {} }, -32602],
    ["tasks/get", {}, -32602],
    ["tasks/get", { id: 12 }, -32602],
    ["tasks/get", { id: "none", historyLength: -1 }, -32602],
    ["tasks/get", { "": "none" }, -32602],
    ["tasks/pushNotificationConfig/set", { taskId: "none" }, -32003],
    ["tasks/pushNotificationConfig/get", { id: "none" }, -32003],
    ["tasks/list", {}, -32601],
    ["toString", {}, -32601],
  ];
  for (const [method, params, code] of faults) {
    it(`answers ${method} ${JSON.stringify(params)?.slice(0, 90)} with ${code}`, async () => {
      const { error } = await ask(method, params);
      assert.equal(error.code, code);
      assert.ok(error.message.length > 10);
    });
  }

  const envelopes: readonly [string, number, unknown][] = [
    ['{"jsonrpc": "2.0", "method"', -32700, null],
    ['{"jsonrpc":"1.0","method":"tasks/get","id":"a","params":{"id":"x"}}', -32600, "a"],
    ['{"jsonrpc":"2.0","id":"a","params":{}}', -32600, "a"],
    ['{"jsonrpc":"2.0","method":"tasks/get","id":{"a":1},"params":{"id":"x"}}', -32600, null],
    ['{"jsonrpc":"2.0","method":"tasks/get","id":1.5,"params":{"id":"x"}}', -32600, null],
    ["[]", -32600, null],
    ["3", -32600, null],
    ['{"jsonrpc":"2.0","method":"tasks/get","id":4,"params":["x"]}', -32602, 4],
  ];
  for (const [body, code, id] of envelopes) {
    it(`answers ${body} with ${code}`, async () => {
      const response = await send(body);
      assert.equal(response.status, 200);
      const answer = await response.json() as Json;
      assert.equal(answer.error.code, code);
      assert.equal(answer.id, id);
    });
  }

  const nested = (levels: number): object => levels === 1 ? {} : { a: nested(levels - 1) };
  const many = (count: number) => ({ parts: Array(count).fill({ kind: "text", text: "Hi" }) });
  const excesses: readonly [string, object, number, RegExp][] = [
    ["too many parts", many(21), -32602, /params\.message\.parts: .* <=20 items/],
    ["too long a text", { parts: [{ kind: "text", text: "x".repeat(200_001) }] }, -32602, /200000/],
    [
      "too large a request",
      { parts: [{ kind: "text", text: "x".repeat(1_048_576) }] },
      -32600,
      /^Invalid request: 104\d{4} bytes, and at most 1048576 are taken$/,
    ],
    [
      "too deep data",
      { parts: [{ kind: "text", text: "Hi" }, { kind: "data", data: nested(51) }] },
      -32602,
      /^params\.message\.parts\.1: nested deeper than 50 levels$/,
    ],
  ];
  for (const [what, more, code, says] of excesses) {
    it(`describes ${what}`, async () => {
      const { error } = await ask("message/send", { message: message("", more) });
      assert.equal(error.code, code);
      assert.match(error.message, says);
    });
  }

  it("accepts as many and as deeply nested parts as it says", async () => {
    const parts = Array(20).fill({ kind: "data", data: nested(50) });
    const { result } = await ask("message/send", { message: message("", { parts }) });
    assert.deepEqual(result.history[0].parts.length, 20);
  });

  const wrongMessages: readonly [object, RegExp][] = [
    [{ parts: [null] }, /params\.message\.parts\.0: expected exactly one of text, data, raw, url$/],
    [{ parts: ["Hi"] }, /parts\.0: expected exactly one of/],
    [{ parts: [{ text: "Hi" }, { sound: "la" }] }, /parts\.1: expected exactly one of/],
    [{ parts: [{ text: "Hi", data: {} }] }, /parts\.0: expected exactly one of/],
    [{ parts: [{ text: 5 }] }, /parts\.0\.text: expected a string$/],
    [{ parts: [] }, /params\.message\.parts: expected 1 to 20 parts$/],
    [{ parts: Array(21).fill({ text: "Hi" }) }, /parts: expected 1 to 20 parts$/],
    [{ parts: { text: "Hi" } }, /parts: expected 1 to 20 parts$/],
    [{ messageId: 5 }, /messageId: expected 1 to 200 characters$/],
    [{ role: "ROLE_KING" }, /role: expected ROLE_USER$/],
    [{ role: undefined }, /role: expected ROLE_USER$/],
  ];
  for (const [more, says] of wrongMessages) {
    it(`describes what is wrong with ${JSON.stringify(more).slice(0, 60)} in 1.0`, async () => {
      const parts = [{ text: "Hi" }];
      const params = { message: { messageId: randomUUID(), role: "ROLE_USER", parts, ...more } };
      for (const method of ["SendMessage", "SendStreamingMessage"]) {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
        const { error } = await (await send(body, { "a2a-version": "1.0" })).json() as Json;
        assert.equal(error.code, -32602);
        assert.match(error.message, says);
      }
    });
  }

  it("suggests the method or field that may be meant", async () => {
    const faults: readonly [string, object, RegExp][] = [
      ["message/sned", {}, /Method not found: message\/sned; did you mean message\/send\?/],
      ["SendMessage", {}, /Method not found: SendMessage; .*header A2A-Version: 1\.0/],
      ["xyz", {}, /^Method not found: xyz$/],
      ["initialize", {}, /^Method not found: initialize; MCP is at \/mcp$/],
      ["tasks/get", {}, /params\.id: Field required$/],
      ["tasks/get", { id: 1 }, /params\.id: Invalid input: expected string/],
    ];
    for (const [method, params, says] of faults) {
      assert.match((await ask(method, params)).error.message, says);
    }
  });
});
