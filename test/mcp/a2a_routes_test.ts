import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Role, TaskState } from "@a2a-js/sdk";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import { exportReceipts } from "../../ledger/mod.ts";
import { eventually, runInOneMinute } from "../_time.ts";
import { a2aWorld, type Json, message, skill } from "./_a2a.ts";

describe("A2A", () => {
  const a2a = a2aWorld();
  const { client, send } = a2a;

  it("is served at the server's address, too, with its card beside it", async () => {
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

  it("checks the key before it reads a request", async () => {
    const bodies = [
      '{"jsonrpc": "2.0", "method": "message/send", "params": {"foo": "bar"}',
      "[]",
      "null",
      "",
      '{"jsonrpc":"2.0","params":{}}',
      '{"jsonrpc":"2.0","method":"message/ssend","id":"3","params":{}}',
      '{"jsonrpc":"2.0","method":"message/send","id":"4","params":{"":"no"}}',
      '{"jsonrpc":"2.0","method":"tasks/get","id":1,"params":{"id":"x"}}',
      '{"jsonrpc":"2.0","method":"tasks/pushNotificationConfig/set","id":1,"params":{}}',
      '{"jsonrpc":"2.0","method":"agent/getAuthenticatedExtendedCard","id":1}',
    ];
    for (const body of bodies) {
      for (const authorization of ["", "Bearer slp_partner_wrong", "Basic aGVsbG86eW91"]) {
        for (const version of ["0.3", "1.0", "7.0"]) {
          const response = await send(body, { authorization, "a2a-version": version });
          const { status, headers } = response;
          assert.deepEqual([status, headers.get("www-authenticate")], [401, "Bearer"], body);
          assert.equal(typeof (await response.json() as Json).detail, "string");
        }
      }
    }
  });

  it("is served in version 1.0 where the header asks for it", async () => {
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
      const request = JSON.stringify({ jsonrpc: "2.0", id: 3, method, params });
      const { result, error } = await (await send(request, headers)).json() as Json;
      if (method === "GetExtendedAgentCard") assert.ok(result.skills.length > 40);
      else if (method === "GetTask") assert.equal(result.history.length, 1);
      else assert.equal(error.code, method === "CancelTask" ? -32002 : -32003);
    }
    const unknown = await (await send(body, { "a2a-version": "7.0" })).json() as Json;
    assert.equal(unknown.error.code, -32009);
    assert.equal(unknown.error.data[0].reason, "VERSION_NOT_SUPPORTED");
  });

  it("seals every request of a key, also reads and refusals, without its words", async () => {
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
    const summaries = acts.map(({ action, outcome }: Json) => `${action} ${outcome}`);
    assert.deepEqual(summaries.sort(), expected.sort());
    assert.ok(!sealed.own.join("").includes(words));
  });

  it("counts invalid requests, in both versions", async () => {
    const { answer, keyId } = await runInOneMinute(10, async () => {
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

  it("works with the SDK's clients of both versions", async () => {
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
        // A state that ended before it could be reported is skipped.
        assert.deepEqual([...states].filter((state) => state !== TASK_STATE_WORKING), [
          TASK_STATE_COMPLETED,
        ]);
      }
    }
  });
});
