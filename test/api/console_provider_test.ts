import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig } from "../../config.ts";
import { followPeopleFile } from "../../operations/people/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { currentPolicy } from "../../store/calls/mod.ts";
import { listKeys } from "../../store/keys/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { findSettingsFile } from "../../store/platform/mod.ts";
import { freePort } from "../_run.ts";
import { eventually } from "../_time.ts";
import { type Browser, openBrowser } from "./_cookie_jar.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";
import { startProvider, type TestProvider } from "./_provider.ts";

const PEOPLE = `
people:
  - group: sre
    rights: [read, respond, approve, operate]
  - group: support
    tenant: acme
    rights: [read, respond]
  - subject: auditor-7
    rights: [read]
`;

describe("people who sign in by an identity provider", () => {
  let gateway: TestGateway;
  let provider: TestProvider;
  let worker: Store;
  let folder: string;
  let file: Awaited<ReturnType<typeof followPeopleFile>>;
  let origin: string;
  before(async () => {
    const port = await freePort();
    origin = `http://localhost:${port}`;
    const client = {
      id: "sealoop",
      secret: "of a test",
      redirectUri: `${origin}/console/sign-in/answer`,
    };
    provider = await startProvider(client);
    folder = mkdtempSync(join(tmpdir(), "people-"));
    const settings = {
      SEALOOP_GATEWAY_URL: origin,
      SEALOOP_OIDC_ISSUER: provider.issuer,
      SEALOOP_OIDC_CLIENT_ID: client.id,
      SEALOOP_OIDC_CLIENT_SECRET: client.secret,
      SEALOOP_PEOPLE: join(folder, "people.yaml"),
      SEALOOP_LIMIT_UNKNOWN_KEYS: "1000",
      SEALOOP_LIMIT_SIGN_IN: "100000",
    };
    gateway = await startGateway({ settings, port });
    worker = openStore(gateway.urls.worker, "worker");
    writeFileSync(settings.SEALOOP_PEOPLE, PEOPLE);
    file = await followPeopleFile({
      config: loadConfig({ SEALOOP_DATA: dirname(settings.SEALOOP_PEOPLE!), ...settings }),
      store: worker,
      log: createLog("test", "silent"),
    });
  });
  after(async () => {
    file?.stop();
    await worker?.close();
    await gateway?.stop();
    await provider?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    provider.alters((claims) => claims);
    provider.signsByAnotherKey(false);
  });

  async function post(browser: Browser, path: string, body: object) {
    const answer = await browser.send(origin + path, {
      method: "POST",
      headers: { "content-type": "application/json", origin },
      body: JSON.stringify(body),
    });
    // deno-lint-ignore no-explicit-any -- the tests look into it
    return { status: answer.status, headers: answer.headers, body: await answer.json() as any };
  }

  /** Begins to sign in, and lets the provider send the browser back. @returns its answer */
  async function answerOf(browser: Browser, page = "/console"): Promise<string> {
    const begun = await post(browser, "/v1/console/sign-in", { page });
    assert.equal(begun.status, 200, JSON.stringify(begun.body));
    const back = await browser.navigate(begun.body.url, origin);
    return back.search.slice(1);
  }

  const bring = (browser: Browser, answer: string) =>
    post(browser, "/v1/console/sign-in/answer", { answer });

  async function signIn(browser: Browser, page?: string) {
    return await bring(browser, await answerOf(browser, page));
  }

  async function who(browser: Browser) {
    const answer = await browser.send(`${origin}/v1/console/session`);
    // deno-lint-ignore no-explicit-any -- likewise
    return { status: answer.status, body: await answer.json() as any };
  }

  /** Changes the people file, and puts it in force as the worker does. */
  async function changeFile(text: string): Promise<void> {
    writeFileSync(join(folder, "people.yaml"), text);
    await file.refresh();
  }

  it("get what the people file gives their groups, and come back to where they were headed", async () => {
    provider.signsIn({ sub: "s-1", preferred_username: "ada", groups: ["sre", "all"] });
    const browser = openBrowser();
    const { status, body, headers } = await signIn(browser, "/console/approvals/APR-5b1e09c77a42");
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.page, "/console/approvals/APR-5b1e09c77a42");
    assert.ok(!JSON.stringify(body).includes("session_"), "the secret is in the cookie alone");
    const [session, begun] = headers.getSetCookie();
    assert.match(session!, /^sealoop=slp_session_[^;]+; Path=\/; HttpOnly; SameSite=Strict$/);
    assert.match(begun!, /^sealoop-sign-in=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/);
    const { body: person } = await who(browser);
    assert.deepEqual(
      [person.principal, person.tenant_id, person.rights],
      ["ada", "platform", ["read", "respond", "approve", "operate"]],
    );
    assert.equal((await browser.send(`${origin}/v1/admin/flags`)).status, 200);
  });

  it("get the tenant of the first entry that fits, and no more than read where it says so", async () => {
    provider.signsIn({ sub: "s-2", preferred_username: "sam", groups: ["support"] });
    const sam = openBrowser();
    assert.equal((await signIn(sam)).body.tenant_id, "acme");
    assert.deepEqual((await who(sam)).body.rights, ["read", "respond"]);
    assert.equal((await sam.send(`${origin}/v1/admin/flags`)).status, 403);

    provider.signsIn({ sub: "auditor-7", preferred_username: "kim" });
    const kim = openBrowser();
    assert.deepEqual((await signIn(kim)).body.rights, ["read"]);
    const ticket = await post(kim, "/v1/itsm/tickets", { title: "Printer jams" });
    assert.equal(ticket.status, 403);
    assert.match(ticket.body.detail, /only reads/);
    const out = await kim.send(`${origin}/v1/console/session`, {
      method: "DELETE",
      headers: { origin },
    });
    assert.equal(out.status, 200, "whoever has a session can end it");
    assert.equal(kim.cookie(origin, "sealoop"), undefined);
    assert.equal((await who(kim)).status, 401);
  });

  it("are signed out of the console alone where the provider offers no more", async () => {
    provider.signsIn({ sub: "s-1", preferred_username: "ada", groups: ["sre"] });
    const browser = openBrowser();
    await signIn(browser);
    const where = await browser.send(`${origin}/v1/console/session/provider`);
    assert.deepEqual(await where.json(), { url: null });
  });

  it("may not where the file gives them nothing, and read why", async () => {
    provider.signsIn({ sub: "s-3", preferred_username: "eve", groups: ["sales"] });
    const browser = openBrowser();
    const { status, body } = await signIn(browser);
    assert.equal(status, 403);
    assert.match(body.detail, /gives nothing to you \(subject "s-3"\).*groups \("sales"\)/);
    assert.equal(browser.cookie(origin, "sealoop"), undefined);
  });

  it("keep one key, which is at each sign-in what their groups are then", async () => {
    const person = { sub: "s-4", preferred_username: "lee", groups: ["sre"] };
    const browsers = [openBrowser(), openBrowser(), openBrowser()] as const;
    provider.signsIn(person);
    assert.equal((await signIn(browsers[0])).status, 200);
    provider.signsIn({ ...person, groups: [] });
    assert.equal((await signIn(browsers[1])).status, 403);
    assert.equal((await who(browsers[0])).status, 401, "what they lost ends where they are, too");
    provider.signsIn(person);
    assert.equal((await signIn(browsers[2])).status, 200);
    const keys = (await listKeys(worker.asPlatform())).filter(({ principal }) =>
      principal === "lee"
    );
    assert.equal(keys.length, 1);
  });

  it("are never more than the file in force gives them", async () => {
    provider.signsIn({ sub: "s-5", preferred_username: "max", groups: ["sre"] });
    const browser = openBrowser();
    await signIn(browser);
    await changeFile(PEOPLE.replace(", approve, operate", ""));
    assert.deepEqual((await who(browser)).body.rights, ["read", "respond"]);
    assert.equal((await browser.send(`${origin}/v1/admin/flags`)).status, 403);
    await changeFile("people: [{ group: sre, tenant: acme, rights: [operate] }]");
    assert.deepEqual(
      (await who(browser)).body.rights,
      ["read", "respond"],
      "a wrong file changes nothing",
    );
    await changeFile("people: []");
    assert.equal((await who(browser)).status, 401);
    await changeFile(PEOPLE);
    assert.equal((await who(browser)).status, 200, "the session has not ended, its person has");
  });

  it("keep their keys where a worker lacks the provider, unless its file names nobody", async () => {
    provider.signsIn({ sub: "s-6", preferred_username: "kim", groups: ["sre"] });
    const browser = openBrowser();
    await signIn(browser);
    const other = join(folder, "elsewhere");
    const without = await followPeopleFile({
      config: loadConfig({
        SEALOOP_DATA: other,
        SEALOOP_PLACE: "elsewhere",
        SEALOOP_PEOPLE: join(other, "none.yaml"),
      }),
      store: worker,
      log: createLog("test", "silent"),
    });
    try {
      assert.equal((await who(browser)).status, 200);
      const { state, mistakes } = (await findSettingsFile(worker.asPlatform(), "people"))!;
      assert.deepEqual([state, mistakes.map(({ text }) => text)], [
        "refused",
        ["SEALOOP_OIDC_ISSUER is not set on this worker; set it as on the others"],
      ]);
      await changeFile("people: []");
      await without.refresh();
      const { policy } = (await currentPolicy(worker.asPlatform(), "people_policies"))!;
      assert.deepEqual(policy, { issuer: null, groups_claim: "groups", people: [] });
    } finally {
      without.stop();
    }
    await changeFile(PEOPLE);
    assert.equal((await who(browser)).status, 200);
  });

  it("end with their key, and can't sign in by a revoked one", async () => {
    provider.signsIn({ sub: "s-6", preferred_username: "noa", groups: ["support"] });
    const browser = openBrowser();
    await signIn(browser);
    const [key] = (await listKeys(worker.asPlatform())).filter(({ principal }) =>
      principal === "noa"
    );
    const admin = await gateway.key({ tier: "admin" });
    const revoked = await gateway.call(admin, "POST", "/v1/keys/revoke", { key_id: key!.id });
    assert.equal(revoked.status, 200);
    assert.equal((await who(browser)).status, 401);
    const again = await signIn(browser);
    assert.equal(again.status, 403);
    assert.match(again.body.detail, /was revoked/);
  });

  it("don't become somebody else by the name that they have there", async () => {
    const principal = "robin";
    await gateway.key({ principal });
    provider.signsIn({ sub: "s-7", preferred_username: "Robin", groups: ["support"] });
    assert.match((await signIn(openBrowser())).body.principal, /^Robin \([0-9a-f]{16}\)$/);
    await changeFile(`${PEOPLE}  - { subject: s-8, principal: ${principal}, rights: [read] }\n`);
    provider.signsIn({ sub: "s-8", preferred_username: "r8" });
    assert.equal((await signIn(openBrowser())).body.principal, principal, "where the file says so");
  });

  const lies: Readonly<Record<string, [(claims: Record<string, unknown>) => object, RegExp]>> = {
    "another nonce": [() => ({ nonce: "another" }), /"nonce" claim/],
    "another issuer": [() => ({ iss: "https://evil.example" }), /"iss" \(issuer\)/],
    "another audience": [() => ({ aud: "another" }), /"aud" \(audience\)/],
    "an end that has passed": [() => ({ exp: 1_000_000_000, iat: 999_999_000 }), /"exp"/],
  };
  for (const [name, [lie, reason]] of Object.entries(lies)) {
    it(`are refused by an ID token with ${name}`, async () => {
      provider.signsIn({ sub: "s-1", preferred_username: "ada", groups: ["sre"] });
      provider.alters((claims) => ({ ...claims, ...lie(claims) }));
      const browser = openBrowser();
      const { status, body } = await signIn(browser);
      assert.equal(status, 401, JSON.stringify(body));
      assert.match(body.detail, reason);
      assert.match(body.detail, /Begin again$/);
      assert.equal(browser.cookie(origin, "sealoop"), undefined);
    });
  }

  it("are refused by an ID token that another key has signed", async () => {
    provider.signsIn({ sub: "s-1", preferred_username: "ada", groups: ["sre"] });
    provider.signsByAnotherKey(true);
    const { status, body } = await signIn(openBrowser());
    assert.equal(status, 401);
    assert.match(body.detail, /signature/);
  });

  it("are refused by an answer that was changed on its way, or says no", async () => {
    provider.signsIn({ sub: "s-1", preferred_username: "ada", groups: ["sre"] });
    const changes: readonly (readonly [(answer: URLSearchParams) => void, RegExp])[] = [
      [(answer) => answer.set("state", "another"), /"state"/],
      [(answer) => answer.delete("state"), /"state" missing/],
      [(answer) => answer.set("iss", "https://evil.example"), /"iss"/],
      [(answer) => answer.set("code", "another"), /has refused: invalid_grant/],
      [(answer) => answer.set("error", "access_denied"), /has refused: access_denied/],
      [(answer) => answer.set("error", "<b>Call 555-1234</b>"), /has refused: an unknown error/],
    ];
    for (const [change, reason] of changes) {
      const browser = openBrowser();
      const answer = new URLSearchParams(await answerOf(browser));
      change(answer);
      const { status, body } = await bring(browser, answer.toString());
      assert.deepEqual([status, reason.test(body.detail)], [401, true], body.detail);
      assert.equal((await who(browser)).status, 401);
    }
  });

  it("are taken once, from the browser that has begun, on a page of the gateway's own", async () => {
    provider.signsIn({ sub: "s-1", preferred_username: "ada", groups: ["sre"] });
    const [browser, other] = [openBrowser(), openBrowser()];
    const answer = await answerOf(browser);
    const strange = await bring(other, answer);
    assert.equal(strange.status, 401, "another browser has no cookie");
    assert.match(strange.body.detail, /has not begun to sign in/);
    await answerOf(other);
    const swapped = await bring(other, answer);
    assert.equal(swapped.status, 401, "login CSRF: another browser has begun for itself");
    assert.match(swapped.body.detail, /"state"/);
    for (const site of ["cross-site", "same-site", "none"]) {
      const foreign = await browser.send(`${origin}/v1/console/sign-in/answer`, {
        method: "POST",
        headers: { "sec-fetch-site": site, "content-type": "application/json" },
        body: JSON.stringify({ answer }),
      });
      assert.ok([401, 403].includes(foreign.status), site);
    }
    const before = browser.cookie(origin, "sealoop-sign-in")!;
    assert.equal((await bring(browser, answer)).status, 200);
    assert.equal((await bring(browser, answer)).status, 401);
    browser.plant(origin, "sealoop-sign-in", before);
    const replayed = await bring(browser, answer);
    assert.equal(replayed.status, 401);
    assert.match(replayed.body.detail, /has done so already/);

    await post(browser, "/v1/console/sign-in", {});
    const state = new URL((await post(browser, "/v1/console/sign-in", {})).body.url)
      .searchParams.get("state")!;
    const code = new URLSearchParams(answer);
    code.set("state", state);
    const old = await bring(browser, code.toString());
    assert.equal(old.status, 401, "a code of another sign-in");
    assert.match(old.body.detail, /invalid_grant/);
  });

  it("are sent to pages of the console alone", async () => {
    const elsewhere = [
      "https://evil.example/console",
      "//evil.example",
      "/console.evil.example",
      "/\\evil.example",
      "/console@evil.example",
      "/console/../health",
      "javascript:alert(1)",
      "/docs",
      "/console#x",
    ];
    for (const page of elsewhere) {
      const { status } = await post(openBrowser(), "/v1/console/sign-in", { page });
      assert.equal(status, 422, page);
    }
    const page = "/console/incidents?status=open&after=INC-00000000000a";
    assert.equal((await post(openBrowser(), "/v1/console/sign-in", { page })).status, 200);
  });

  it("get a new session at each sign-in, whatever cookie their browser had", async () => {
    provider.signsIn({ sub: "s-1", preferred_username: "ada", groups: ["sre"] });
    const browser = openBrowser();
    const planted = `slp_session_${"x".repeat(43)}`;
    browser.plant(origin, "sealoop", planted);
    assert.equal((await signIn(browser)).status, 200);
    const first = browser.cookie(origin, "sealoop")!;
    assert.notEqual(first, planted);
    assert.equal((await signIn(browser)).status, 200);
    const second = browser.cookie(origin, "sealoop")!;
    assert.notEqual(second, first);
    const thief = openBrowser();
    thief.plant(origin, "sealoop", first);
    assert.equal((await who(thief)).status, 401, "the one before has ended");
    assert.equal((await who(browser)).status, 200);
  });

  it("leave no secret in the log, and nothing of themselves in public receipts", async () => {
    provider.signsIn({ sub: "s-1", preferred_username: "ada", groups: ["sre"] });
    const browser = openBrowser();
    const answer = await answerOf(browser);
    const secret = browser.cookie(origin, "sealoop-sign-in")!;
    await bring(browser, answer);
    const { code, state } = Object.fromEntries(new URLSearchParams(answer));
    for (const private_ of [secret, code!, state!, browser.cookie(origin, "sealoop")!]) {
      assert.ok(!gateway.log().includes(private_));
    }
    const stored = await gateway.platform.store.asPlatform().query(
      "SELECT payload FROM seal_outbox",
    );
    const texts = stored.map(({ payload }) => String(payload));
    const about = (category: string) => texts.filter((text) => text.includes(`"${category}"`));
    assert.ok(about("session_opened").some((text) => text.includes('"way":"provider"')));
    assert.ok(about("key_changed").some((text) => text.includes('"tier":"admin"')));
    const versions = about("config_change").filter((text) => text.includes('"people-file"'));
    assert.ok(versions.length >= 4, "each version of the file is sealed");
    const all = texts.join("\n");
    for (const text of ["ada", "s-1", "sre", "support", provider.issuer]) {
      assert.ok(!all.includes(`"${text}"`), text);
    }
  });
});

describe("an identity provider that is away", () => {
  it("is told of where people sign in, and used once it is back; nobody is kept out by others of their address", async () => {
    const [port, providerPort] = [await freePort(), await freePort()];
    const origin = `http://localhost:${port}`;
    const issuer = `http://127.0.0.1:${providerPort}`;
    const client = { id: "sealoop", secret: "of a test", redirectUri: `${origin}/answer` };
    const gateway = await startGateway({
      settings: {
        SEALOOP_GATEWAY_URL: origin,
        SEALOOP_OIDC_ISSUER: issuer,
        SEALOOP_OIDC_CLIENT_ID: client.id,
        SEALOOP_OIDC_CLIENT_SECRET: client.secret,
        SEALOOP_LIMIT_FREE: "1",
        SEALOOP_LIMIT_SIGN_IN: "100000",
      },
      port,
    });
    let provider: TestProvider | undefined;
    try {
      const ways = async () =>
        (await (await fetch(`${origin}/v1/console/sign-in`)).json() as {
          provider: { issuer: string; problem: string | null };
        }).provider;
      const away = await ways();
      assert.equal(away.issuer, issuer);
      assert.match(away.problem!, /can't be reached/);
      const begun = await fetch(`${origin}/v1/console/sign-in`, {
        method: "POST",
        headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", origin },
        body: "{}",
      });
      assert.equal(begun.status, 503, await begun.text());
      provider = await startProvider(client, providerPort);
      await eventually(async () => (await ways()).problem === null || undefined);
    } finally {
      await provider?.stop();
      await gateway.stop();
    }
  });
});
