/** Every client of a system of others, against a server that misbehaves, and against its documented answers. */
import assert from "node:assert/strict";
import { type Config, loadConfig } from "../../../config.ts";
import { openOutside, remoteSettingsOf } from "../../../integrations/outside/mod.ts";
import { openPolicyAdviser } from "../../../integrations/policy/mod.ts";
import type { RemoteFailed } from "../../../integrations/remote/mod.ts";
import { answerAs, DOCUMENTED } from "./_documented.ts";
import {
  expiringCertificates,
  HOSTILE,
  type HostileServer,
  SECRET,
  startHostileServer,
} from "./_hostile.ts";

const ACT = "ACT-5b1e09c77a42";
const CREDENTIALS = JSON.stringify(
  Object.fromEntries(
    [
      "opa",
      "ciso-assistant",
      "fleet",
      "n8n",
      "n8n-webhook",
      "weaviate",
      "meshcentral",
      "keycloak",
      "mastodon",
    ].map((name) => [name, SECRET]),
  ),
);
const configOf = (url: string) =>
  loadConfig({
    SEALOOP_OPA_URL: url,
    SEALOOP_CISO_ASSISTANT_URL: url,
    SEALOOP_FLEET_URL: url,
    SEALOOP_N8N_URL: url,
    SEALOOP_WEAVIATE_URL: url,
    SEALOOP_MESHCENTRAL_URL: url,
    SEALOOP_KEYCLOAK_URL: `${url}/realms/acme`,
    SEALOOP_MASTODON_URL: url,
    SEALOOP_CREDENTIALS: CREDENTIALS,
  });

interface Request {
  readonly name: string;
  send(config: Config): Promise<unknown>;
  /** True: it needs the status alone, so that a wrong body does no harm. */
  readonly isStatusOnly?: true;
  /** True: it wants a WebSocket, so that any answer is a refusal. */
  readonly isSocket?: true;
}
const REQUESTS: readonly Request[] = [
  { name: "OPA: check", send: (c) => openPolicyAdviser(c)!.check(), isStatusOnly: true },
  { name: "CISO Assistant: count", send: (c) => openOutside(c).grc!.count() },
  { name: "CISO Assistant: read", send: (c) => openOutside(c).grc!.read() },
  { name: "Fleet: count", send: (c) => openOutside(c).rmm!.count() },
  { name: "Fleet: list", send: (c) => openOutside(c).rmm!.listHosts() },
  { name: "Fleet: run", send: (c) => openOutside(c).rmm!.runScript(1, 2) },
  { name: "Fleet: result", send: (c) => openOutside(c).rmm!.readRun("e797d6c6") },
  { name: "n8n: check", send: (c) => openOutside(c).soar!.check() },
  { name: "n8n: list", send: (c) => openOutside(c).soar!.listWorkflows() },
  {
    name: "n8n: trigger",
    send: (c) => openOutside(c).soar!.trigger("restart", ACT, {}),
    isStatusOnly: true,
  },
  {
    name: "n8n: execution",
    send: (c) => openOutside(c).soar!.findExecution("tqX81", ACT, new Date()),
  },
  { name: "Weaviate: collections", send: (c) => openOutside(c).rag!.listCollections() },
  { name: "MeshCentral: list", send: (c) => openOutside(c).mesh!.listDevices(), isSocket: true },
  { name: "Keycloak: keeps events", send: (c) => openOutside(c).audit!.keepsEvents() },
  { name: "Keycloak: events", send: (c) => openOutside(c).audit!.listEvents() },
  { name: "Mastodon: post", send: (c) => openOutside(c).mastodon!.post("Hello", ACT) },
  {
    name: "Mastodon: find",
    send: (c) => openOutside(c).mastodon!.findPost("Hello", new Date()),
  },
  { name: "Weaviate: search", send: (c) => openOutside(c).rag!.search("Why?") },
];

describe("clients of systems of others", () => {
  let server: HostileServer;
  let config: Config;
  before(async () => {
    server = await startHostileServer();
    config = configOf(server.url);
  });
  after(() => server.close());

  /** Sends all requests at once, each by a client of its own. @returns the codes of their failures */
  async function codes(to: Config, requests = REQUESTS): Promise<string[]> {
    return await Promise.all(requests.map(async ({ name, send }) => {
      const error = await send(to).then(() => undefined, (error) => error) as RemoteFailed;
      if (!error) return `${name}: ok`;
      assert.equal(error.name, "Unavailable", `${name}: ${error}`);
      assert.doesNotMatch(
        `${error.message}${error.stack}`,
        new RegExp(`${SECRET}|127\\.0\\.0\\.1`),
      );
      return `${name}: ${error.code} ${error.outcome}`;
    }));
  }

  /** The same one after the other: on a busy machine, all at once are so much work that a time limit may be over. */
  async function codesInTurn(to: Config): Promise<string[]> {
    const all: string[] = [];
    for (const request of REQUESTS) all.push(...await codes(to, [request]));
    return all;
  }

  for (const { name, code, outcome, isBody, respond } of HOSTILE) {
    it(`fail on ${name}`, async () => {
      server.answer((_, response) => respond(response));
      const expected = REQUESTS.map((one) => {
        const known = one.name === "n8n: trigger" ? "unknown" : outcome; // whatever its status
        const failed = isBody && one.isSocket ? "not_socket not_done" : `${code} ${known}`;
        return `${one.name}: ${isBody && one.isStatusOnly ? "ok" : failed}`;
      });
      const send = code === "timeout" ? codes : codesInTurn;
      assert.deepEqual(await send(config), expected);
    });
  }

  it("send nothing where the certificate has expired", async () => {
    const { expired } = expiringCertificates();
    const secure = await startHostileServer(expired);
    assert.deepEqual(
      await codesInTurn(configOf(secure.url)),
      REQUESTS.map(({ name }) => `${name}: tls not_done`),
    );
    assert.equal(secure.requests(), 0);
    secure.close();
  });

  it("send nothing where the credential that they need is missing", async () => {
    const without = loadConfig({
      SEALOOP_CISO_ASSISTANT_URL: server.url,
      SEALOOP_FLEET_URL: server.url,
      SEALOOP_N8N_URL: server.url,
      SEALOOP_MESHCENTRAL_URL: server.url,
      SEALOOP_KEYCLOAK_URL: `${server.url}/realms/acme`,
      SEALOOP_MASTODON_URL: server.url,
    });
    server.answer((_, response) => response.end());
    const needing = REQUESTS.filter(({ name }) => /^(CISO|Fleet|n8n|Mesh|Key|Mastodon)/.test(name))
      .filter(({ name }) => name !== "n8n: trigger");
    assert.deepEqual(
      await codes(without, needing),
      needing.map(({ name }) => `${name}: credential not_done`),
    );
    assert.equal(server.requests(), 0);
  });

  it("read the documented answers, each with its credential", async () => {
    const sent = answerAs(server, DOCUMENTED);
    const { grc, rmm, soar, rag } = openOutside(config);
    assert.deepEqual(await grc!.read(), {
      frameworks: { total: 2, names: ["ISO 27001:2022", "NIST CSF 2.0"] },
      assessments: {
        total: 1,
        first: [{
          name: "ISMS 2026",
          framework: "ISO 27001:2022",
          status: "in_progress",
          progress: 40,
        }],
      },
      applied_controls: { total: 3, by_state: { active: 2, to_do: 1 } },
      risk_scenarios: { total: 1, by_state: { mitigate: 1 } },
    });
    assert.deepEqual(await rmm!.count(), { total: 2, online: 1, offline: 1 });
    assert.deepEqual(
      (await rmm!.listHosts()).map(({ id, name, isOnline }) => [id, name, isOnline]),
      [
        [1, "web-1", true],
        [2, "web-2", false],
      ],
    );
    assert.equal(await rmm!.runScript(1, 2), "e797d6c6-3aae-11ee-be56-0242ac120002");
    assert.deepEqual(await rmm!.readRun("e797d6c6-3aae-11ee-be56-0242ac120002"), { exitCode: 0 });
    await soar!.check();
    assert.deepEqual(await soar!.listWorkflows(), [
      { id: "tqX81", name: "Restart the printer", isStartable: true },
      { id: "by-hand", name: "Nightly report", isStartable: false },
    ]);
    assert.equal(await soar!.findWebhook("tqX81"), "printers/restart");
    await soar!.trigger("printers/restart", ACT, { floor: 3 });
    const since = new Date("2026-07-01T12:00:00Z");
    assert.deepEqual(await soar!.findExecution("tqX81", ACT, since), {
      id: "1002",
      status: "success",
      hasEnded: true,
    });
    assert.equal(await soar!.findExecution("tqX81", "ACT-000000000000", since), undefined);
    assert.deepEqual(await rag!.listCollections(), [{ name: "Handbook", documents: 12 }]);
    const [passage] = await rag!.search('Why does "it" fail?\n}');
    assert.equal(passage!.text, "Certificates\nThe chain is incomplete");
    assert.equal(passage!.score, 1.5);
    assert.equal(remoteSettingsOf("rmm", config)!.credential, "fleet");

    const by = (path: string) => sent.find((one) => one.path.startsWith(path))!;
    assert.equal(by("/api/frameworks/").headers.authorization, `Token ${SECRET}`);
    assert.equal(by("/api/v1/fleet/").headers.authorization, `Bearer ${SECRET}`);
    assert.equal(by("/api/v1/workflows").headers["x-n8n-api-key"], SECRET);
    const webhook = by("/webhook/");
    assert.deepEqual(
      [webhook.headers["x-sealoop-act"], webhook.headers["x-n8n-api-key"], webhook.body],
      [ACT, undefined, '{"floor":3}'],
    );
    const { query } = JSON.parse(sent.findLast((one) => one.path === "/v1/graphql")!.body);
    assert.match(query, /bm25: \{ query: "Why does \\"it\\" fail\?\\n\}" \}/);
  });

  it("takes an error of GraphQL for a failure, and answers nothing where no property has text", async () => {
    answerAs(server, { ...DOCUMENTED, "POST /v1/graphql": { errors: [{ message: SECRET }] } });
    const { rag } = openOutside(config);
    await assert.rejects(rag!.search("Why?"), /^Unavailable: Weaviate could not answer a query$/);
    answerAs(server, {
      ...DOCUMENTED,
      "GET /v1/schema": { classes: [{ class: "A", properties: [] }] },
    });
    assert.deepEqual(await rag!.search("Why?"), []);
    answerAs(server, { ...DOCUMENTED, "GET /v1/schema": { classes: [{ class: "A } { x" }] } });
    await assert.rejects(rag!.search("Why?"), /another shape/);
  });
});
