import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import pg from "pg";
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { operations } from "../../operations/mod.ts";
import { addTicketEvent } from "../../store/incidents/mod.ts";
import { allowTools } from "../_governance.ts";
import { openPeople, type People } from "../api/_people.ts";
import { a2aClient, type Json, message } from "../mcp/_a2a.ts";
import { connect, connectHttp, startToolServer, type TestToolServer } from "../mcp/_tool_server.ts";
import { expand, inputOf, openDoors } from "./_doors.ts";
import { DRILLS, ENDLESS, FREE, PUBLIC, secretsOf, shapeOf } from "./_owned.ts";
import { QUIET_MS, rowsOf, settledRowsOf } from "./_rows.ts";
import { createNothings, createTenant, type Tenant } from "./_tenant.ts";
import { giveKey } from "../_superuser.ts";
import { sized } from "../_size.ts";

describe("the walls between tenants", () => {
  let people: People;
  let server: TestToolServer;
  let superuser: pg.Client;
  let acme: Tenant;
  let rival: Tenant;
  let client: Client;
  let doorsOf: ReturnType<typeof openDoors>;

  before(async () => {
    const limits = {
      SEALOOP_LIMIT_TOOLS: "100000",
      SEALOOP_LIMIT_ENTERPRISE: "1000000",
      SEALOOP_LIMIT_MEDIA: "100000",
      SEALOOP_FFMPEG: "/nonexistent", // media that are asked for fail at once
      SEALOOP_PYTHON: "/nonexistent",
    };
    people = await openPeople(limits);
    const { loop } = people;
    server = await startToolServer({
      on: loop.database,
      temporal: loop.client,
      settings: { ...limits, SEALOOP_LIMIT_SIMULATE: "1000" },
    });
    await allowTools(people.store, ["*"]);
    superuser = new pg.Client({ connectionString: loop.database.superuserUrl });
    await superuser.connect();
    const doors = { loop, gateway: people.url, tools: server.url };
    [acme, rival] = await Promise.all([createTenant("acme", doors), createTenant("rival", doors)]);
    client = await connectHttp(server.url, rival.key);
    doorsOf = openDoors({ people, server, client, rival });
  });
  after(async () => {
    await client?.close();
    await superuser?.end();
    await server?.stop();
    await people?.stop();
  });

  it("know of every field whether it names what somebody owns", () => {
    const all = { ...acme.things, ...acme.texts };
    const unknown = operations.flatMap(({ name, input }) =>
      Object.keys(input.shape)
        .filter((field) => !FREE.has(field) && !Object.hasOwn(all, field))
        .map((field) => `${name}: ${field}`)
    );
    assert.deepEqual(unknown, [], "add it to FREE, or to the things of a tenant");
    const owned = Object.keys(all).filter((field) => FREE.has(field));
    assert.deepEqual(owned, []);
  });

  // Before the next one, in which the rival sends acme's words, and has them in its own records.
  it("hold with a thousand requests of two tenants at once, over shared connections", async () => {
    const paths = (own: Tenant) => [
      "/v1/itsm/incidents?limit=200",
      "/v1/comms?limit=200",
      `/v1/itsm/tickets/${own.things.ticket_id}`,
      "/v1/approvals?limit=200",
      `/v1/knowledge-graph/cmdb/query?q=zq`,
      "/v1/itsm/webhooks/deliveries",
      "/v1/governance/decisions?limit=50",
      "/v1/learning/queue",
      `/v1/itsm/remediations?service=shop-${own.word}`,
    ];
    const wrong: string[] = [];
    const ask = async (n: number) => {
      const [own, other] = n % 2 ? [acme, rival] : [rival, acme];
      const all = paths(own);
      const path = all[Math.floor(n / 2) % all.length]!;
      const response = await fetch(people.url + path, { headers: { "x-api-key": own.key } });
      const text = await response.text();
      const marksOf = ({ word, keyId, things }: Tenant) => [word, keyId, things.webhook_id!];
      const isOwn = marksOf(own).some((mark) => text.includes(mark));
      const isOthers = marksOf(other).some((mark) => text.includes(mark));
      if (response.status !== 200 || !isOwn || isOthers) {
        wrong.push(`${own.name} ${path}: ${response.status} ${text.slice(0, 200)}`);
      }
    };
    for (let first = 0; first < sized(1_000); first += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, n) => ask(first + n)));
    }
    assert.deepEqual(wrong, []);
  });

  it("let nobody read, change or guess what is another tenant's, by any operation through any door", async function () {
    this.timeout(600_000);
    const before = await settledRowsOf(superuser, "acme");
    const leaks: string[] = [];
    const tells: string[] = [];
    let calls = 0;
    for (const operation of operations) {
      if (DRILLS.has(operation.name) || ENDLESS.has(operation.name)) continue;
      const isPublic = PUBLIC.has(operation.name.split(".")[0]!);
      for (const door of doorsOf(operation)) {
        const where = `${operation.name} over ${door.name}`;
        const input = inputOf(operation, { ...acme.things, ...acme.texts }, acme);
        const foreign = await door.call(input);
        const sent = JSON.stringify(input);
        calls++;
        // Ids are public, as receipts name them; what is sent may come back.
        const isEcho = sent.includes(acme.word);
        const others = secretsOf(acme).filter((secret) => !sent.includes(secret));
        const leaked = others.filter((secret) => foreign.text.includes(secret));
        if (leaked.length > 0 && !isPublic) leaks.push(`${where}: ${leaked} in ${foreign.text}`);
        if (!isEcho && foreign.text.includes(acme.word)) leaks.push(`${where}: ${foreign.text}`);
        if (isPublic || sent === JSON.stringify(operation.example.input)) continue;
        const nothings = createNothings(acme);
        const nothing = await door.call(inputOf(operation, nothings, acme));
        calls++;
        const expected = shapeOf(nothing, nothings);
        let told = shapeOf(foreign, { ...acme.things, ...acme.texts });
        if (told !== expected && operation.effect === "read") { // the caller's own runs go on meanwhile
          told = shapeOf(await door.call(input), { ...acme.things, ...acme.texts });
        }
        if (told !== expected) tells.push(`${where}:\n  ${told}\n  ${expected}`);
      }
    }
    assert.deepEqual([...leaks, ...tells], []);
    assert.ok(calls > 150, `${calls} calls`);
    assert.deepEqual(await rowsOf(superuser, "acme"), before, "nothing of acme's has changed");
    const run = people.loop.client.workflow.getHandle(acme.things.workflow_id!);
    assert.equal((await run.describe()).status.name, "RUNNING");
  });

  it("hide A2A tasks, whatever is asked about them", async () => {
    const { ask, send } = a2aClient(server.url, rival.key);
    const nobodys = "01234567-89ab-4cde-8f01-23456789abcd";
    for (const method of ["tasks/get", "tasks/cancel", "tasks/resubscribe"]) {
      const told = async (id: string) => {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { id } });
        const text = await (await send(body)).text();
        assert.ok(!text.includes(acme.word), text);
        return text.replaceAll(id, "<id>").replace(/[0-9a-f]{16}/g, "<receipt>");
      };
      assert.equal(await told(acme.taskId), await told(nobodys), method);
    }
    const more = await ask("message/send", { message: message("Go on", { taskId: acme.taskId }) });
    assert.ok(more.error && !JSON.stringify(more).includes(acme.word));
    const list = JSON.stringify((await ask("tasks/list", {})).result ?? {});
    assert.ok(!list.includes(acme.word));
  });

  it("notify of changes only who may read them", async () => {
    const uris = ["sealoop://tickets", `sealoop://tickets/${acme.things.ticket_id}`];
    const heard: Record<string, string[]> = { acme: [], rival: [] };
    const subscribers = await Promise.all([acme, rival].map(async ({ name, key }) => {
      const subscriber = await connect(server.url, key);
      subscriber.setNotificationHandler(
        ResourceUpdatedNotificationSchema,
        ({ params }) => void heard[name]!.push(params.uri),
      );
      for (const uri of uris) await subscriber.subscribeResource({ uri });
      return subscriber;
    }));
    do { // until nothing of their own is told any more
      for (const uris of Object.values(heard)) uris.length = 0;
      await sleep(QUIET_MS);
    } while (Object.values(heard).some((uris) => uris.length > 0));
    await addTicketEvent(people.store.asTenant("acme"), acme.things.ticket_id!, {
      key: "changed",
      kind: "noted",
    });
    while (new Set(heard.acme).size < 2) await sleep(20);
    await sleep(500);
    assert.deepEqual(heard.rival, []);
    await Promise.all(subscribers.map((subscriber) => subscriber.close()));
  });

  it("are crossed by keys of tier admin, by the operations that say so", async () => {
    const { key } = await giveKey(people.store, {
      tier: "admin",
      principal: "on call",
      mayApprove: true,
    });
    const status = async (path: string) =>
      (await fetch(people.url + path, { headers: { "x-api-key": key } })).status;
    const { approval_id, workflow_id, ticket_id } = acme.things;
    assert.equal(await status(`/v1/approvals/${approval_id}/info`), 200);
    assert.equal(await status(`/v1/workflows/${workflow_id}`), 200);
    assert.equal(await status(`/v1/itsm/tickets/${ticket_id}`), 404, "it does not say so");
    const list = async (path: string) =>
      await (await fetch(people.url + path, { headers: { "x-api-key": key } })).json() as Json;
    const { approvals } = await list("/v1/approvals?limit=200");
    const tenants = new Set(approvals.map((approval: Json) => approval.tenant_id));
    assert.ok(tenants.has("acme") && tenants.has("rival"), [...tenants].join());
    const { workflows } = await list("/v1/workflows?limit=200");
    assert.ok(workflows.some((run: Json) => run.workflow_id === workflow_id));
    const namesWhere = (isListed: (one: Operation<Platform>) => unknown) =>
      operations.filter(isListed).map(({ name }) => name).sort();
    const spanning = namesWhere(({ governance }) => governance?.spansTenants);
    assert.deepEqual(spanning, [
      "approvals.groups",
      "approvals.list",
      "grants.list",
      "tenants.list",
      "workflows.list",
    ]);
    const { devices } = await list("/v1/shield/devices?tenant_id=acme");
    assert.deepEqual(devices.map((one: Json) => one.device_id), [acme.things.device_id]);
    assert.equal(await status(`/v1/devices/${acme.things.device_id}/resources`), 200);
    const crossing = namesWhere(({ governance }) => governance?.ownerOf);
    assert.deepEqual(crossing, [
      "approvals.approve",
      "approvals.context",
      "approvals.deny",
      "approvals.group",
      "approvals.info",
      "approvals.offer",
      "approvals.reopen",
      "devices.command",
      "devices.command_history",
      "devices.discover",
      "devices.list",
      "devices.resources",
      "grants.make",
      "grants.revoke",
      "grants.statement",
      "people.approve_list",
      "people.deny_list",
      "people.list_statement",
      "people.statement",
      "tenants.devices",
      "workflows.cancel",
      "workflows.describe",
      "workflows.history",
      "workflows.result",
    ]);
  });

  it("show callers without a key the operator's numbers, and nothing of a tenant", async () => {
    const reads = operations.filter(({ access, effect }) =>
      access === "public" && effect === "read"
    );
    for (const { rest = {}, ...operation } of reads) {
      for (const route of Object.values(rest)) {
        const input = inputOf(
          operation as Operation<Platform>,
          { ...acme.things, ...acme.texts },
          acme,
        );
        const [, template] = route.split(" ") as [string, string];
        const query = new URLSearchParams(
          Object.entries(input).filter(([name]) => !template.includes(`{${name}}`))
            .map(([name, value]): [string, string] => [name, String(value)]),
        );
        const response = await fetch(`${people.url}${expand(template, input)}?${query}`);
        const text = await response.text();
        const isEcho = JSON.stringify(input).includes(acme.word);
        assert.ok(isEcho || !text.includes(acme.word), `${route}: ${text}`);
        assert.ok(
          !text.includes(`host-${acme.word}`) && !text.includes(`team ${acme.word}`),
          route,
        );
      }
    }
  });
});
