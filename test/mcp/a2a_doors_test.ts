import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Role, TaskState } from "@a2a-js/sdk";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import { exportReceipts } from "../../ledger/mod.ts";
import { inOneMinute } from "../_time.ts";
import { eventually } from "../workflows/_story.ts";
import { a2aWorld, type Json, message, skill } from "./_a2a.ts";

describe("A2A's card and doors", () => {
  const a2a = a2aWorld();
  const { ask, client, send } = a2a;

  it("is spoken at the server's address, too, and has its card beside it", async () => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 3,
      method: "tasks/get",
      params: { id: "x" },
    });
    const headers = { "content-type": "application/json", authorization: `Bearer ${a2a.key}` };
    for (const path of ["/", "/a2a/"]) {
      const response = await fetch(a2a.server.url + path, { method: "POST", headers, body });
      assert.equal((await response.json() as Json).error.code, -32001, path);
    }
    const of = async (path: string) => await (await fetch(a2a.server.url + path)).json() as Json;
    for (const name of ["agent-card.json", "agent.json"]) {
      assert.deepEqual(await of(`/a2a/.well-known/${name}`), await of(`/.well-known/${name}`));
    }
    assert.equal((await fetch(`${a2a.server.url}/`)).status, 404);
  });

  it("tells anybody what is no request, and nobody without a key more than that", async () => {
    const faults: readonly [string, number][] = [
      ['{"jsonrpc": "2.0", "method": "message/send", "params": {"foo": "bar"}', -32700],
      ['{"jsonrpc":"2.0","params":{}}', -32600],
      ['{"jsonrpc":"2.0","method":"message/ssend","id":"3","params":{}}', -32601],
      ['{"jsonrpc":"2.0","method":"message/send","id":"4","params":{"":"no"}}', -32602],
    ];
    for (const [body, code] of faults) {
      const response = await send(body, { authorization: "" });
      assert.equal(response.status, 200);
      assert.equal((await response.json() as Json).error.code, code);
    }
    for (
      const [method, params] of [
        ["message/send", { message: message("Hello") }],
        ["message/stream", { message: message("Hello") }],
        ["tasks/cancel", { id: "x" }],
        ["tasks/resubscribe", { id: "x" }],
        ["tasks/pushNotificationConfig/set", { taskId: "x" }],
        ["agent/getAuthenticatedExtendedCard", {}],
      ] as const
    ) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const { status, headers } = await send(body, { authorization: "" });
      assert.deepEqual([status, headers.get("www-authenticate")], [401, "Bearer"], method);
    }
  });

  it("lets nobody in without a key", async () => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tasks/get",
      params: { id: "x" },
    });
    for (const authorization of ["", "Bearer slp_partner_wrong"]) {
      const response = await send(body, { authorization });
      assert.equal(response.status, 401);
      assert.equal(response.headers.get("www-authenticate"), "Bearer");
    }
  });

  it("speaks 1.0 where the header asks for it", async () => {
    const headers = { "a2a-version": "1.0" };
    const parts = [{ text: "billing is down" }];
    const params = { message: { messageId: randomUUID(), role: "ROLE_USER", parts } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params });
    const { result: { task } } = await (await send(body, headers)).json() as Json;
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    const listing = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ListTasks", params: {} });
    const { result: { tasks } } = await (await send(listing, headers)).json() as Json;
    assert.ok(tasks.some(({ id }: Json) => id === task.id));
    for (
      const [method, params] of [
        ["GetExtendedAgentCard", {}],
        ["CreateTaskPushNotificationConfig", { taskId: task.id, url: "https://a.example" }],
        ["GetTask", { id: task.id, historyLength: 1 }],
        ["CancelTask", { id: task.id }],
      ] as const
    ) {
      const asked = JSON.stringify({ jsonrpc: "2.0", id: 3, method, params });
      const { result, error } = await (await send(asked, headers)).json() as Json;
      if (method === "GetExtendedAgentCard") assert.ok(result.skills.length > 40);
      else if (method === "GetTask") assert.equal(result.history.length, 1);
      else assert.equal(error.code, method === "CancelTask" ? -32002 : -32003);
    }
    const unknown = await (await send(body, { "a2a-version": "7.0" })).json() as Json;
    assert.equal(unknown.error.code, -32009);
    assert.equal(unknown.error.data[0].reason, "VERSION_NOT_SUPPORTED");
  });

  it("says of itself what is true, to clients of both protocols", async () => {
    const read = async (name: string) =>
      await (await fetch(`${a2a.server.url}/.well-known/${name}`)).json() as Json;
    const card = await read("agent-card.json");
    assert.deepEqual(await read("agent.json"), card);
    const { protocolVersion, preferredTransport, url, capabilities, securitySchemes } = card;
    assert.deepEqual({ protocolVersion, preferredTransport, url }, {
      protocolVersion: "0.3.0",
      preferredTransport: "JSONRPC",
      url: `${a2a.server.url}/a2a`,
    });
    assert.equal(capabilities.streaming, true);
    assert.equal(capabilities.pushNotifications, false);
    assert.equal(capabilities.extendedAgentCard, true);
    assert.equal(securitySchemes.bearer.scheme, "bearer");
    const { tools } = await (await fetch(`${a2a.server.url}/mcp/tools`)).json() as Json;
    const names = (all: Json[], field: string) => all.map((one) => one[field]).sort();
    assert.deepEqual(names(card.skills, "id"), names(tools, "name"));
    for (const { id, examples } of card.skills) {
      const { skill, arguments: given } = JSON.parse(examples[0]);
      const { properties } = tools.find(({ name }: Json) => name === id).inputSchema;
      assert.equal(skill, id);
      assert.deepEqual(Object.keys(given).filter((name) => !(name in properties)), [], id);
    }
  });

  it("shows its card where it is reached, and to a key the skills that it reaches", async () => {
    const get = (path: string, as?: string) =>
      fetch(a2a.server.url + path, { headers: as ? { authorization: `Bearer ${as}` } : {} });
    const open = await (await get("/.well-known/agent-card.json")).json() as Json;
    assert.equal(open.supportsAuthenticatedExtendedCard, true);
    assert.deepEqual(await (await get("/a2a")).json(), open);
    const audit = (await a2a.server.key({ scope: "audit" })).key;
    const { result } = await ask("agent/getAuthenticatedExtendedCard", undefined, audit);
    assert.equal(result.skills.length, 6);
    assert.ok(open.skills.length > 40);
    for (const path of ["/a2a/card", "/agent/authenticatedExtendedCard"]) {
      assert.deepEqual(await (await get(path, audit)).json(), result);
      for (const wrong of [undefined, "slp_partner_wrong"]) {
        const { status, headers } = await get(path, wrong);
        assert.deepEqual([status, headers.get("www-authenticate")], [401, "Bearer"]);
      }
    }
  });

  it("gives its card once to those who keep it", async () => {
    const address = `${a2a.server.url}/.well-known/agent-card.json`;
    const etag = (await fetch(address)).headers.get("etag")!;
    const headers = { "if-none-match": etag, "cache-control": "max-age=60" };
    const again = await fetch(address, { headers });
    assert.deepEqual([again.status, await again.text()], [304, ""]);
  });

  it("has no words in its card that are secrets, or read like their names", async () => {
    const named = a2a.server.url.replace("127.0.0.1", "localhost");
    const { skills, ...card } = await (await fetch(`${named}/a2a`)).json() as Json;
    const secret = /api[_-]?key|secret|token|password|credential|127\.0\.0\.1/i;
    for (const part of [card, ...skills]) assert.doesNotMatch(JSON.stringify(part), secret);
    const inner = /(internal|private|admin|debug|test).*(?:url|endpoint|host)/i;
    assert.doesNotMatch(JSON.stringify({ ...card, skills }), inner);
  });

  it("seals every request of a key, reads and refusals too, without what was said", async () => {
    const { key: own, id: keyId } = await a2a.server.key();
    const agent = client(own);
    const words = "nobody-reads-this";
    const { result: { id } } = await agent.ask("message/send", { message: message(words) });
    await agent.ask("tasks/get", { id });
    await agent.ask("tasks/get", { id: words });
    await agent.stream("message/stream", { message: message(words) });
    await agent.ask("tasks/cancel", { id });
    await agent.stream("tasks/resubscribe", { id });
    await agent.ask("tasks/pushNotificationConfig/set", { taskId: id, pushNotificationConfig: {} });
    await agent.ask("tasks/pushNotificationConfig/delete", { id, pushNotificationConfigId: "1" });
    await agent.ask("agent/getAuthenticatedExtendedCard");
    await agent.ask("message/send", skill(words));
    await agent.ask("message/stream", skill(words));
    const expected = [
      "message/send refused",
      "message/stream refused",
      "a2a.message success",
      "tasks/resubscribe success",
      "tasks/get success",
      "tasks/get success",
      "a2a.message success",
      "a2a.cancel success",
      "tasks/pushNotificationConfig/set refused",
      "tasks/pushNotificationConfig/delete refused",
      "agent/getAuthenticatedExtendedCard success",
    ];
    const sealed = await eventually(async () => {
      const all = await exportReceipts(a2a.loop.store, { from: 0, to: 10_000 });
      const own = all.map(({ text }) => text).filter((text) => text.includes(`key:${keyId}`));
      const acts = own.filter((text) => JSON.parse(text).category === "tool_call");
      return acts.length >= expected.length ? { own, acts } : undefined;
    });
    const acts = sealed.acts.map((text) => JSON.parse(text));
    const told = acts.map(({ action, outcome }: Json) => `${action} ${outcome}`);
    assert.deepEqual(told.sort(), expected.sort());
    assert.ok(!sealed.own.join("").includes(words));
  });

  it("counts what is no request that it knows, in either protocol", async () => {
    const { answer, keyId } = await inOneMinute(10, async () => {
      const { key: own, id: keyId } = await a2a.server.key();
      await client(own).ask("message/send", skill("no_such_skill"));
      const current = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: {} } };
      const headers = { authorization: `Bearer ${own}`, "a2a-version": "1.0" };
      const answer = await (await send(JSON.stringify(current), headers)).json() as Json;
      return { answer, keyId };
    });
    assert.equal(typeof answer.error.code, "number");
    const usage = await a2a.loop.store.asPlatform().first(
      "SELECT used FROM usage WHERE subject = $1",
      [keyId],
    );
    assert.equal(Number(usage?.used), 2);
  });

  it("is understood by the SDK's own clients of both protocols", async () => {
    for (const legacy of [false, true]) {
      const fetchImpl: typeof fetch = (input, init) => {
        const headers = new Headers(init?.headers);
        headers.set("authorization", `Bearer ${a2a.key}`);
        return fetch(input, { ...init, headers });
      };
      const legacyCompat = { enabled: legacy };
      const factory = new ClientFactory({
        transports: [new JsonRpcTransportFactory({ fetchImpl, legacyCompat })],
        cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
      });
      const client = await factory.createFromUrl(a2a.server.url);
      for (
        const content of [
          { $case: "text" as const, value: "billing is down" },
          { $case: "data" as const, value: { skill: "itsm_run_test", arguments: {} } },
        ]
      ) {
        const parts = [{ content, metadata: undefined, filename: "", mediaType: "" }];
        const states = new Set<unknown>();
        const events = client.sendMessageStream({
          tenant: "",
          message: {
            messageId: randomUUID(),
            contextId: "",
            taskId: "",
            role: Role.ROLE_USER,
            parts,
            metadata: undefined,
            extensions: [],
            referenceTaskIds: [],
          },
          configuration: undefined,
          metadata: undefined,
        });
        for await (const { payload } of events) {
          if (payload?.$case === "statusUpdate") states.add(payload.value.status?.state);
        }
        const { TASK_STATE_WORKING, TASK_STATE_COMPLETED } = TaskState;
        // What was over before it could be told of is passed over.
        assert.deepEqual([...states].filter((state) => state !== TASK_STATE_WORKING), [
          TASK_STATE_COMPLETED,
        ]);
      }
    }
  });
});
