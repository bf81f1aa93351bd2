import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig } from "../../config.ts";
import { followPeopleFile } from "../../operations/people/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { newPage, type TestPage } from "../_browser.ts";
import { freePort } from "../_run.ts";
import { asSuperuser } from "../_superuser.ts";
import { eventually } from "../_time.ts";
import { approvalCalls } from "../api/_approvals.ts";
import { startGateway, type TestGateway } from "../api/_gateway.ts";
import { openPeople, type People } from "../api/_people.ts";
import { startProvider, type TestProvider } from "../api/_provider.ts";
import { testCertificate } from "../runtime/web/_certificate.ts";
import { type ConsoleTab, openConsole } from "./_console.ts";

const PEOPLE = `
people:
  - { group: sre, rights: [read, respond, approve] }
  - { group: support, tenant: acme, rights: [read] }
`;
const ADA = { sub: "s-1", preferred_username: "ada", groups: ["sre"] };
const CLIENT = { id: "sealoop", secret: "of a test" };

/** A provider, and the settings of a gateway whose people sign in by it. */
async function provide(origin: string, folder: string) {
  const provider = await startProvider({
    ...CLIENT,
    redirectUri: `${origin}/console/sign-in/answer`,
    signedOutUri: `${origin}/console/sign-in`,
  });
  const settings = {
    SEALOOP_GATEWAY_URL: origin,
    SEALOOP_OIDC_ISSUER: provider.issuer,
    SEALOOP_OIDC_CLIENT_ID: CLIENT.id,
    SEALOOP_OIDC_CLIENT_SECRET: CLIENT.secret,
    SEALOOP_PEOPLE: join(folder, "people.yaml"),
  };
  writeFileSync(settings.SEALOOP_PEOPLE, PEOPLE);
  return { provider, settings };
}

/** Puts the people file in force, as the worker does. */
async function enforce(settings: Readonly<Record<string, string>>, worker: Store): Promise<void> {
  (await followPeopleFile({
    config: loadConfig({ SEALOOP_DATA: dirname(settings.SEALOOP_PEOPLE!), ...settings }),
    store: worker,
    log: createLog("test", "silent"),
  })).stop();
}

describe("people in a browser who sign in by an identity provider", () => {
  let folder: string;
  let provider: TestProvider;
  let people: People;
  let tab: ConsoleTab;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "people-"));
    const provided = await provide(`http://localhost:${await freePort()}`, folder);
    provider = provided.provider;
    people = await openPeople(provided.settings);
    await enforce(provided.settings, people.store);
  });
  beforeEach(async () => {
    tab = await openConsole(people);
  });
  afterEach(() => tab?.close());
  after(async () => {
    await people?.stop();
    await provider?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const { ask } = approvalCalls(() => people);

  const signIn = () => tab.press(`Sign in with ${new URL(provider.issuer).host}`);
  const path = async () => String(await tab.page.evaluate("location.pathname + location.search"));
  // deno-lint-ignore no-explicit-any -- the tests look into it
  type Json = any;
  /** Calls the gateway as a page does. */
  const asPage = (method: string, path: string): Promise<Json> =>
    tab.page.evaluate(
      async (method, path) => await (await fetch(path, { method })).json(),
      method,
      path,
    );

  it("open the link to a decision, sign in, and are on that very page with what is theirs", async () => {
    const { approval_id } = await ask({ description: "Drop the old sessions" });
    provider.signsIn(ADA);
    await tab.open(`/console/approvals/${approval_id}`, /Sign in with/);
    assert.equal(
      await path(),
      `/console/sign-in?to=${encodeURIComponent(`/console/approvals/${approval_id}`)}`,
    );
    await signIn();
    await tab.shows(/Enrol a passkey to approve/);
    assert.equal(await path(), `/console/approvals/${approval_id}`);
    assert.match(await tab.shows(/Drop the old sessions/), /ada/);
    const { principal, tenant_id, rights } = await asPage("GET", "/v1/console/session");
    assert.deepEqual([principal, tenant_id, rights], ["ada", "platform", [
      "read",
      "respond",
      "approve",
    ]]);
    assert.equal(await tab.page.evaluate("document.cookie"), "", "scripts can't read it");
    assert.deepEqual(tab.problems.filter((problem) => problem.includes("policy")), []);
  });

  it("see nothing of another tenant's by its link", async () => {
    const { approval_id } = await ask({ description: "Drop the old sessions" });
    provider.signsIn({ sub: "s-2", preferred_username: "sam", groups: ["support"] });
    await tab.open(`/console/approvals/${approval_id}`, /Sign in with/);
    await signIn();
    const shown = await tab.shows(new RegExp(`${approval_id}`));
    assert.equal(await path(), `/console/approvals/${approval_id}`);
    assert.doesNotMatch(shown, /Drop the old sessions/);
    const { tenant_id, rights } = await asPage("GET", "/v1/console/session");
    assert.deepEqual([tenant_id, rights], ["acme", ["read"]]);
  });

  it("are signed out at the provider, too, when they sign out", async () => {
    provider.signsIn(ADA);
    await tab.open("/console/you", /Sign in with/);
    const before = provider.logins;
    await signIn();
    await tab.shows(/Sign out/);
    assert.equal(provider.logins, before + 1);

    const context = tab.page.browserContext();
    const [session] = (await context.cookies()).filter(({ name }) => name === "sealoop");
    await context.deleteCookie(session!);
    await tab.open("/console/you", /Sign in with/);
    await signIn();
    await tab.shows(/Sign out/);
    assert.equal(provider.logins, before + 1, "the provider's session signs in without a question");

    await tab.press("Sign out");
    await tab.shows(/Do you want to sign-out/);
    await tab.press("Yes, sign me out");
    await tab.shows(/Sign in with/);
    assert.equal(await path(), "/console/sign-in");
    await signIn();
    await tab.shows(/[Ww]aits? for|Nothing waits/);
    assert.equal(provider.logins, before + 2);
  });

  it("leave their ID token nowhere once they have signed out", async () => {
    provider.signsIn(ADA);
    await tab.open("/console/you", /Sign in with/);
    await signIn();
    await tab.shows(/Sign out/);
    const db = people.store.asPlatform();
    const tokens = async (where: string) =>
      (await db.query(`SELECT id_token FROM sessions WHERE ${where}`)).map(({ id_token }) =>
        id_token
      );
    const held = (await tokens("ended_at IS NULL AND id_token IS NOT NULL")).map(String);
    assert.ok(held.length > 0);
    await tab.press("Sign out");
    await tab.shows(/Do you want to sign-out/);
    assert.deepEqual((await tokens("ended_at IS NOT NULL")).filter((token) => token !== null), []);
    const evidence = JSON.stringify(
      await asSuperuser(people.store).query("SELECT content FROM evidence"),
    );
    assert.match(evidence, /people\.sign_out|ada/);
    for (const token of held) assert.ok(!evidence.includes(token));
  });

  it("end the console's session alone where they came by a link", async () => {
    await tab.signIn();
    await tab.open("/console/you", /Sign out/);
    await tab.press("Sign out");
    await tab.shows(/Sign in with/);
    assert.equal(await path(), "/console/sign-in");
  });
});

describe("a browser's cookies over TLS", () => {
  let folder: string;
  let provider: TestProvider;
  let gateway: TestGateway;
  let worker: Store;
  let tab: TestPage;
  let origin: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "people-"));
    const port = await freePort();
    origin = `https://localhost:${port}`;
    const provided = await provide(origin, folder);
    provider = provided.provider;
    const { cert, key } = testCertificate({ names: ["localhost"] });
    const tls = {
      SEALOOP_TLS_CERT: join(folder, "tls.crt"),
      SEALOOP_TLS_KEY: join(folder, "tls.key"),
    };
    writeFileSync(tls.SEALOOP_TLS_CERT, cert);
    writeFileSync(tls.SEALOOP_TLS_KEY, key);
    gateway = await startGateway({ settings: { ...provided.settings, ...tls }, port });
    worker = openStore(gateway.urls.worker, "worker");
    await enforce(provided.settings, worker);
    tab = await newPage();
    const devtools = await tab.page.createCDPSession();
    await devtools.send("Security.setIgnoreCertificateErrors", { ignore: true });
  });
  after(async () => {
    await tab?.close();
    await worker?.close();
    await gateway?.stop();
    await provider?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("are bound to the host by their names, and a person signs in by them", async () => {
    const { page } = tab;
    const shows = (text: RegExp) =>
      eventually(async () => {
        const shown = String(await page.evaluate("document.body.innerText").catch(() => ""));
        return text.test(shown) || undefined;
      });
    const cookies = async () =>
      (await page.browserContext().cookies())
        .filter(({ domain, name }) => domain === "localhost" && name.includes("sealoop"))
        .map(({ name, path, secure, httpOnly, sameSite }) => ({
          name,
          path,
          secure,
          httpOnly,
          sameSite,
        }));
    const common = { path: "/", secure: true, httpOnly: true };
    provider.signsIn(ADA);
    await page.goto(`${origin}/console/you`);
    await shows(/Sign in with/);
    await page.evaluate(async () => {
      const headers = { "content-type": "application/json" };
      await fetch("/v1/console/sign-in", { method: "POST", headers, body: "{}" });
    });
    assert.deepEqual(await cookies(), [
      { ...common, name: "__Host-sealoop-sign-in", sameSite: "Lax" },
    ]);
    await page.locator(`::-p-aria(Sign in with ${new URL(provider.issuer).host})`).click();
    await shows(/Sign out/);
    assert.equal(await page.evaluate("location.href"), `${origin}/console/you`);
    assert.deepEqual(await cookies(), [{ ...common, name: "__Host-sealoop", sameSite: "Strict" }]);
  });

  it("count by these names alone", async () => {
    const { page } = tab;
    const [session] = (await page.browserContext().cookies()).filter(({ name }) =>
      name === "__Host-sealoop"
    );
    await page.browserContext().deleteCookie(session!);
    await page.setCookie({ name: "sealoop", value: session!.value, url: origin, secure: true });
    // The console's own pages would leave for the sign-in page while this asks.
    await page.goto(`${origin}/openapi.json`);
    const who = () => page.evaluate(async () => (await fetch("/v1/console/session")).status);
    assert.equal(await who(), 401, "as another host of the domain could have set it");
    await page.browserContext().setCookie(session!);
    assert.equal(await who(), 200);
  });
});
