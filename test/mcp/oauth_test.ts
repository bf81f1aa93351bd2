import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { decideAgain } from "../../calls/mod.ts";
import { loadConfig } from "../../config.ts";
import { openOidc } from "../../integrations/oidc/mod.ts";
import { followPeopleFile, openAccessTokens } from "../../operations/people/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { ROLES } from "../../store/mod.ts";
import { setGovernance } from "../_governance.ts";
import { freePort } from "../_run.ts";
import { openBrowser } from "../api/_cookie_jar.ts";
import { openPeople, type People } from "../api/_people.ts";
import { startProvider, type TestProvider } from "../api/_provider.ts";
import { connectHttp } from "./_tool_server.ts";

const PEOPLE = `
people:
  - { group: sre, rights: [read, respond, approve, operate] }
  - { group: support, tenant: acme, rights: [read] }
`;
const ADA = { sub: "s-1", preferred_username: "ada", groups: ["sre"] };
const SAM = { sub: "s-2", preferred_username: "sam", groups: ["support"] };
const AGENT = { id: "night-agent", redirectUri: "http://127.0.0.1/callback" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

describe("access tokens at the tool server", () => {
  let folder: string;
  let provider: TestProvider;
  let people: People;
  let file: Awaited<ReturnType<typeof followPeopleFile>>;
  let gateway: string;
  let tools: string;
  let resource: string;
  let agentKey: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "tokens-"));
    gateway = `http://localhost:${await freePort()}`;
    tools = `http://localhost:${await freePort()}`;
    resource = `${tools}/mcp`;
    const client = {
      id: "sealoop",
      secret: "of a test",
      redirectUri: `${gateway}/console/sign-in/answer`,
      agent: AGENT,
    };
    provider = await startProvider(client);
    const settings = {
      SEALOOP_GATEWAY_URL: gateway,
      SEALOOP_MCP_URL: tools,
      SEALOOP_OIDC_ISSUER: provider.issuer,
      SEALOOP_OIDC_CLIENT_ID: client.id,
      SEALOOP_OIDC_CLIENT_SECRET: client.secret,
      SEALOOP_PEOPLE: join(folder, "people.yaml"),
      SEALOOP_LIMIT_UNKNOWN_KEYS: "1000",
    };
    writeFileSync(settings.SEALOOP_PEOPLE, PEOPLE);
    people = await openPeople(settings);
    file = await followPeopleFile({
      config: loadConfig({ SEALOOP_DATA: folder, ...settings }),
      store: people.store,
      log: createLog("test", "silent"),
    });
    agentKey = (await people.tools()).key;
    await signIn(ADA);
    await signIn(SAM);
  });
  after(async () => {
    file?.stop();
    await people?.stop();
    await provider?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Signs somebody in to the console, by which they get their key. */
  async function signIn(account: typeof ADA): Promise<void> {
    provider.signsIn(account);
    const browser = openBrowser();
    const post = (path: string, body: object) =>
      browser.send(gateway + path, {
        method: "POST",
        headers: { "content-type": "application/json", origin: gateway },
        body: JSON.stringify(body),
      });
    const { url } = await (await post("/v1/console/sign-in", {})).json() as { url: string };
    const back = await browser.navigate(url, gateway);
    const answer = await post("/v1/console/sign-in/answer", { answer: back.search.slice(1) });
    assert.equal(answer.status, 200, await answer.text());
  }

  /** Returns a token of somebody's as the provider issues it, with other claims. */
  const tokenOf = (
    { sub, groups }: { sub: string; groups: readonly string[] },
    claims: Record<string, unknown> = {},
  ) =>
    provider.accessToken({
      sub,
      groups,
      aud: resource,
      client_id: AGENT.id,
      scope: "sealoop:full",
      ...claims,
    });

  /** Sends a message to the tool server. */
  async function post(token: string | undefined, message: object = INITIALIZE, more: object = {}) {
    const answer = await fetch(resource, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...more,
      },
      body: JSON.stringify(message),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }

  /** Calls a tool in a session of its own. */
  async function callTool(token: string, name: string, input: Record<string, unknown> = {}) {
    const client = await connectHttp(tools, token);
    try {
      return await client.callTool({ name, arguments: input }) as Json;
    } finally {
      await client.close();
    }
  }

  it("are asked for with the address of who issues them", async () => {
    const bare = await post(undefined);
    assert.equal(bare.status, 401);
    const metadata = `${tools}/.well-known/oauth-protected-resource/mcp`;
    assert.equal(bare.headers.get("www-authenticate"), `Bearer resource_metadata="${metadata}"`);
    const wrong = await post("slp_partner_unknown");
    assert.equal(
      wrong.headers.get("www-authenticate"),
      `Bearer error="invalid_token", resource_metadata="${metadata}"`,
    );
    for (const address of [metadata, `${tools}/.well-known/oauth-protected-resource`]) {
      assert.deepEqual(await (await fetch(address)).json(), {
        resource,
        authorization_servers: [provider.issuer],
        scopes_supported: ["sealoop:audit", "sealoop:full"],
        bearer_methods_supported: ["header"],
        resource_name: "sealoop",
      });
    }
  });

  it("are got by an ordinary client that knows the address alone, and act as their person", async () => {
    provider.signsIn(ADA);
    let code = "";
    let tokens: Json;
    let verifier = "";
    const authProvider: OAuthClientProvider = {
      redirectUrl: AGENT.redirectUri,
      clientMetadata: { redirect_uris: [AGENT.redirectUri], token_endpoint_auth_method: "none" },
      clientInformation: () => ({ client_id: AGENT.id }),
      tokens: () => tokens,
      saveTokens: (given) => void (tokens = given),
      async redirectToAuthorization(url) {
        const back = await openBrowser().navigate(url.href, AGENT.redirectUri);
        code = back.searchParams.get("code")!;
      },
      saveCodeVerifier: (given) => void (verifier = given),
      codeVerifier: () => verifier,
    };
    const open = () => new StreamableHTTPClientTransport(new URL(resource), { authProvider });
    const first = open();
    const client = new Client({ name: "test", version: "1" });
    await assert.rejects(client.connect(first), /Unauthorized/);
    await first.finishAuth(code);
    await client.connect(open());
    const { _meta } = await client.callTool({
      name: "itsm_create_ticket",
      arguments: { title: "Printer on floor 3 jams" },
    }) as Json;
    await client.close();
    const { body: { decisions } } = await people.call("GET", "/v1/governance/decisions", "admin");
    const made = decisions.find((one: Json) => one.decision_id === _meta["sealoop/decision_id"]);
    assert.equal(made.principal, "ada", JSON.stringify(decisions[0]));
    await people.sealed(_meta.receipt_id);
    const { body: receipt } = await people.call("GET", `/v1/receipt/${_meta.receipt_id}`);
    assert.equal(receipt.actor, `key:${made.key_id}`);
  });

  it("count for this address alone, while they are valid, and as their issuer has signed them", async () => {
    const now = Math.floor(Date.now() / 1_000);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const [header, payload, signature] = tokenOf(ADA).split(".") as [string, string, string];
    const wrong: Record<string, string> = {
      "another audience": tokenOf(ADA, { aud: "https://other.example/mcp" }),
      "the client as its audience": tokenOf(ADA, { aud: "sealoop" }),
      "no audience": tokenOf(ADA, { aud: undefined }),
      "another issuer": tokenOf(ADA, { iss: "https://other.example" }),
      "an end that is over": tokenOf(ADA, { exp: now - 60 }),
      "no end": tokenOf(ADA, { exp: undefined }),
      "a begin that is not yet": tokenOf(ADA, { nbf: now + 600 }),
      "no person": tokenOf(ADA, { sub: undefined }),
      "a key of its client": tokenOf(ADA, { cnf: { jkt: "x" } }),
      "a changed claim": `${header}.${
        part({ ...JSON.parse(Buffer.from(payload, "base64url").toString()), sub: "s-9" })
      }.${signature}`,
      "no signature": `${part({ alg: "none" })}.${payload}.${signature}`,
      "a signature by a shared secret": `${
        part({ alg: "HS256", kid: "one" })
      }.${payload}.${signature}`,
      "an unknown type": `${
        part({ typ: "logout+jwt", alg: "RS256", kid: "one" })
      }.${payload}.${signature}`,
    };
    provider.signsByAnotherKey(true);
    wrong["another key's signature"] = tokenOf(ADA);
    provider.signsByAnotherKey(false);
    for (const [what, token] of Object.entries(wrong)) {
      const { status, headers, text } = await post(token);
      assert.equal(status, 401, `${what}: ${text}`);
      assert.match(headers.get("www-authenticate")!, /error="invalid_token"/, what);
    }
    const inAddress = await fetch(`${resource}?api_key=${tokenOf(ADA)}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(INITIALIZE),
    });
    assert.equal(inAddress.status, 401);
    assert.match(await inAddress.text(), /never in an address/);
    assert.equal((await post(tokenOf(ADA))).status, 200);
  });

  it("may what their scope, the people file and their person's sign-in give, and nothing more", async () => {
    for (const scope of [undefined, "openid profile", "sealoop:fullest"]) { // an ID token has none
      const { status, headers } = await post(tokenOf(ADA, { scope }));
      assert.equal(status, 403);
      assert.match(
        headers.get("www-authenticate")!,
        /^Bearer error="insufficient_scope", scope="sealoop:audit sealoop:full", resource_metadata="http/,
      );
    }
    const denied = async (token: string) => {
      const { content, isError } = await callTool(token, "itsm_create_ticket", { title: "x" });
      assert.equal(isError, true);
      return content[0].text;
    };
    assert.match(await denied(tokenOf(ADA, { scope: "openid sealoop:audit" })), /scope audit/);
    assert.match(await denied(tokenOf(SAM)), /scope audit/);

    const stranger = await post(tokenOf({ sub: "s-3", groups: ["sre"] }));
    assert.equal(stranger.status, 403);
    assert.ok(stranger.text.includes(`${gateway}/console`), stranger.text);
    const groupless = await post(tokenOf({ sub: ADA.sub, groups: ["sales"] }));
    assert.equal(groupless.status, 403);
    assert.match(groupless.text, /people file gives nothing/);
    assert.equal((await post(tokenOf({ sub: ADA.sub, groups: SAM.groups }))).status, 403);
  });

  it("never approve, whoever their person is, and are refused where people decide", async () => {
    await setGovernance(people.store, {
      rules: [{ name: "asks", when: { tools: ["tickets.create"] }, then: "needs_approval" }],
    });
    const input = { title: "Look after the archive" };
    const held = await callTool(tokenOf(ADA), "itsm_create_ticket", input);
    const { approval_id } = held.structuredContent.governance;
    const headers: Record<string, string>[] = [
      { "x-api-key": tokenOf(ADA) },
      { authorization: `Bearer ${tokenOf(ADA)}` },
    ];
    for (const sent of headers) {
      for (
        const path of [`/v1/approvals/${approval_id}/approve`, "/v1/console/passkeys/challenge"]
      ) {
        const answer = await people.call("POST", path, undefined, {}, sent);
        assert.equal(answer.status, 401, JSON.stringify(answer.body));
        assert.match(JSON.stringify(answer.body), /tool server/);
      }
    }
    const { body } = await people.call("GET", `/v1/approvals/${approval_id}/info`, "program");
    assert.deepEqual([body.status, body.requested_by, body.approvers], ["pending", "ada", []]);
    await people.vote(approval_id, "approve", "bob");
    const done = await people.eventually(async () => {
      const again = await callTool(tokenOf(ADA), "itsm_create_ticket", input);
      return again.structuredContent.governance ? undefined : again.structuredContent;
    });
    assert.match(done.ticket_id, /^INC-/);
    await setGovernance(people.store, {});
  });

  it("do what the worker asks about again, though their person may approve", async () => {
    const { structuredContent, _meta } = await callTool(tokenOf(ADA), "itsm_create_ticket", {
      title: "Clean the fans",
    });
    assert.ok(structuredContent.ticket_id);
    const { body: { decisions } } = await people.call("GET", "/v1/governance/decisions", "admin");
    const { decision_id, key_id } = decisions
      .find((one: Json) => one.decision_id === _meta["sealoop/decision_id"]);
    const again = (keyId: string) =>
      decideAgain(people.loop, {
        operation: "tickets.create",
        input: { title: "Clean the fans" },
        keyId,
        storedBy: ROLES.tools,
        decisionId: decision_id,
      });
    assert.deepEqual(await again(key_id), { approvers: 0, callerApproves: false, passkey: false });
    await assert.rejects(again(people.keyId("bob")), { name: "Forbidden" });
  });

  it("follow each other in a session, if person and scope are the same", async () => {
    const opened = await post(tokenOf(ADA));
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
    await post(tokenOf(ADA), { jsonrpc: "2.0", method: "notifications/initialized" }, session);
    const call = {
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name: "itsm_list_tickets", arguments: {} },
    };
    const next = await post(tokenOf(ADA, { jti: "next" }), call, session);
    assert.match(next.text, /structuredContent/);
    for (const other of [tokenOf(ADA, { scope: "sealoop:audit" }), tokenOf(SAM), agentKey]) {
      const { status, text } = await post(other, call, session);
      assert.equal(status, 403, text);
      assert.match(text, /opened with another/);
    }
  });

  it("end with what the people file gives their person", async () => {
    writeFileSync(join(folder, "people.yaml"), PEOPLE.replace("group: sre", "group: gone"));
    await file.refresh();
    const { status, text } = await post(tokenOf(ADA));
    assert.equal(status, 403, text);
    writeFileSync(join(folder, "people.yaml"), PEOPLE);
    await file.refresh();
    assert.equal((await post(tokenOf(ADA))).status, 200);
  });

  it("can't be checked while who issues them is away, which says nothing about them", async () => {
    const settings = { SEALOOP_OIDC_ISSUER: "http://127.0.0.1:1", SEALOOP_OIDC_CLIENT_ID: "x" };
    const oidc = openOidc(loadConfig(settings))!;
    const { store, platform: { failures } } = people;
    const tokens = openAccessTokens({ oidc, store, failures, resource, gateway });
    await assert.rejects(tokens.find(tokenOf(ADA), "127.0.0.1"), { name: "Unavailable" });
  });

  it("are taken over A2A as well", async () => {
    const card = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return await (await fetch(`${tools}/a2a/card`, { headers })).json() as Json;
    };
    const [full, audit] = [await card(tokenOf(ADA)), await card(tokenOf(SAM))];
    assert.ok(audit.skills.length > 0 && audit.skills.length < full.skills.length);
  });

  it("leave keys as they were", async () => {
    const { structuredContent } = await callTool(agentKey, "itsm_list_tickets");
    assert.ok(structuredContent.tickets.length > 0);
  });
});
