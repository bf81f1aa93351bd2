import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig } from "../../config.ts";
import { followPeopleFile } from "../../operations/people/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { freePort } from "../_run.ts";
import { type Browser, openBrowser } from "../api/_cookie_jar.ts";
import { startGateway, type TestGateway } from "../api/_gateway.ts";
import { connectHttp, startToolServer, type TestToolServer } from "../mcp/_tool_server.ts";
import type { TestDatabase } from "../_servers.ts";
import {
  addAgentClient,
  addPeopleRealm,
  fetchKeycloak,
  rotateKeys,
  startKeycloak,
} from "./_keycloak.ts";
import { skipSuite } from "./_skip.ts";

const REALM = "people";
/** Name of the tool server in tokens. It listens at any port. */
const TOOLS = "https://tools.example";
const PEOPLE = `
people:
  - { group: sre, rights: [read, respond, approve, operate] }
  - { group: support, tenant: acme, rights: [read, respond] }
`;
const ADA = { name: "ada", password: "of ada", group: "sre" };
const SAM = { name: "sam", password: "of sam", group: "support" };
const EVE = { name: "eve", password: "of eve", group: "sales" };

/** Returns the address that a form of Keycloak's is sent to. */
function formOf(page: string): string {
  const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
  assert.ok(action, page);
  return action.replaceAll("&amp;", "&");
}

describe("people of Keycloak", function () {
  this.timeout(600_000);
  let keycloak: Awaited<ReturnType<typeof startKeycloak>> | undefined;
  let gateway: TestGateway | undefined;
  let worker: Store | undefined;
  let folder: string;
  let origin: string;
  let settings: Readonly<Record<string, string>>;

  before(async function () {
    const fetched = await fetchKeycloak();
    if ("missing" in fetched) return skipSuite(this, fetched.missing);
    folder = mkdtempSync(join(tmpdir(), "people-"));
    const port = await freePort();
    origin = `http://localhost:${port}`;
    keycloak = await startKeycloak(fetched.folder);
    const client = { id: "sealoop", secret: "of: the+test", origin };
    await addPeopleRealm(keycloak.admin, REALM, client, [ADA, SAM, EVE]);
    await addAgentClient(keycloak.admin, REALM, `${TOOLS}/mcp`);
    settings = {
      SEALOOP_GATEWAY_URL: origin,
      SEALOOP_OIDC_ISSUER: `${keycloak.url}/realms/${REALM}`,
      SEALOOP_OIDC_CLIENT_ID: client.id,
      SEALOOP_OIDC_CLIENT_SECRET: client.secret,
      SEALOOP_PEOPLE: join(folder, "people.yaml"),
    };
    writeFileSync(join(folder, "people.yaml"), PEOPLE);
    gateway = await startGateway({ settings, port });
    worker = openStore(gateway.urls.worker, "worker");
    (await followPeopleFile({
      config: loadConfig({ SEALOOP_DATA: dirname(settings.SEALOOP_PEOPLE!), ...settings }),
      store: worker,
      log: createLog("test", "silent"),
    })).stop();
  });
  after(async () => {
    await worker?.close();
    await gateway?.stop();
    await keycloak?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a tool server on the gateway's database, at the address that tokens name. */
  async function startTools(): Promise<TestToolServer> {
    const { urls } = gateway!;
    const on = { urls } as TestDatabase; // another one's, which is not dropped
    return await startToolServer({ on, settings: { ...settings, SEALOOP_MCP_URL: TOOLS } });
  }

  async function accessToken({ name, password }: typeof ADA, scope: string): Promise<string> {
    const answer = await fetch(`${settings.SEALOOP_OIDC_ISSUER}/protocol/openid-connect/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "password",
        client_id: "agent",
        username: name,
        password,
        scope,
      }),
    });
    const { access_token } = await answer.json() as { access_token: string };
    return access_token;
  }

  async function send(browser: Browser, method: string, path: string, body?: object) {
    const answer = await browser.send(origin + path, {
      method,
      headers: { "content-type": "application/json", origin },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    // deno-lint-ignore no-explicit-any -- the tests look into it
    return { status: answer.status, body: await answer.json() as any };
  }

  /** Opens what the console sends a browser to. @returns Keycloak's answer */
  async function begin(browser: Browser): Promise<Response> {
    const begun = await send(browser, "POST", "/v1/console/sign-in", { page: "/console/you" });
    assert.equal(begun.status, 200, JSON.stringify(begun.body));
    return await browser.send(begun.body.url);
  }

  /** Brings Keycloak's answer to the gateway, as the page that it sends browsers back to does. */
  async function bring(browser: Browser, answer: Response) {
    assert.equal(answer.status, 302, await answer.text());
    const back = new URL(answer.headers.get("location")!);
    assert.equal(back.origin + back.pathname, `${origin}/console/sign-in/answer`);
    return await send(browser, "POST", "/v1/console/sign-in/answer", {
      answer: back.search.slice(1),
    });
  }

  /** Signs somebody in by the form of Keycloak's page. */
  async function signIn(browser: Browser, { name, password }: typeof ADA) {
    const page = await begin(browser);
    assert.equal(page.status, 200);
    const sent = await browser.send(formOf(await page.text()), {
      method: "POST",
      body: new URLSearchParams({ username: name, password, credentialId: "" }),
    });
    return await bring(browser, sent);
  }

  it("get the tenant and the rights that the people file gives their groups", async () => {
    const rights = async (user: typeof ADA) => {
      const browser = openBrowser();
      const { status, body } = await signIn(browser, user);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.page, "/console/you");
      const { body: person } = await send(browser, "GET", "/v1/console/session");
      return [person.principal, person.tenant_id, person.rights];
    };
    assert.deepEqual(await rights(ADA), [
      "ada",
      "platform",
      ["read", "respond", "approve", "operate"],
    ]);
    assert.deepEqual(await rights(SAM), ["sam", "acme", ["read", "respond"]]);
  });

  it("may not sign in where it gives their groups nothing", async () => {
    const { status, body } = await signIn(openBrowser(), EVE);
    assert.equal(status, 403);
    assert.match(body.detail, /groups \("sales"\)/);
  });

  it("sign in at once after the realm has changed its keys", async () => {
    const first = await signIn(openBrowser(), SAM);
    assert.equal(first.status, 200);
    await rotateKeys(keycloak!.admin, REALM);
    const second = await signIn(openBrowser(), SAM);
    assert.equal(second.status, 200, JSON.stringify(second.body));
  });

  it("have programs act for them on the tool server, by access tokens that name it", async () => {
    const tools = await startTools();
    try {
      assert.equal((await signIn(openBrowser(), SAM)).status, 200);
      const call = async (scope: string) => {
        const token = await accessToken(SAM, scope);
        const client = await connectHttp(tools.url, token);
        const input = { name: "itsm_create_ticket", arguments: { title: "Printer jams" } };
        const result = await client.callTool(input).finally(() => client.close());
        return result.isError === true;
      };
      assert.equal(await call("sealoop:full"), false);
      assert.equal(await call("sealoop:audit"), true, "it only reads");
      await assert.rejects(call("openid"), /audience|aud/);
      await assert.rejects(
        connectHttp(tools.url, await accessToken(EVE, "sealoop:full")),
        /gives nothing/,
      );
    } finally {
      await tools.stop();
    }
  });

  it("are signed out there when they sign out", async () => {
    const browser = openBrowser();
    await signIn(browser, ADA);
    const again = await bring(browser, await begin(browser));
    assert.equal(again.status, 200, "Keycloak's session signs in without a question");
    const { body: { url } } = await send(browser, "GET", "/v1/console/session/provider");
    assert.equal((await send(browser, "DELETE", "/v1/console/session")).status, 200);
    const out = await browser.send(url);
    assert.equal(out.status, 302, await out.text());
    assert.equal(out.headers.get("location"), `${origin}/console/sign-in`);
    const page = await begin(browser);
    assert.match(await page.text(), /name="password"/, "Keycloak asks again");
  });
});
