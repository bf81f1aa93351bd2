/** Every operation that changes something, called twice with one idempotency key. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInvoke, type Platform } from "../../calls/mod.ts";
import { loadScripts, releaseScripts } from "../../judgement/catalogue/mod.ts";
import {
  asProblem,
  type CallResult,
  type Door,
  isGoverned,
  type Operation,
  outputValue,
} from "../../contract/mod.ts";
import { TASK_QUEUE, tenantAttribute, WORKFLOW } from "../../contract/domain/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { registry } from "../../operations/mod.ts";
import { openTicket as putTicket, recordFindings } from "../../store/incidents/mod.ts";
import { putSession, putSignInLink } from "../../store/people/mod.ts";
import { addLearningItems } from "../../store/learning/mod.ts";
import { followPeopleFile } from "../../operations/people/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { setGovernance } from "../_governance.ts";
import { freePort, testFolder } from "../_run.ts";
import { openBrowser } from "../api/_cookie_jar.ts";
import { openPeople, type People } from "../api/_people.ts";
import { startProvider, type TestProvider } from "../api/_provider.ts";
import { createAuthenticator, type TestAuthenticator } from "../ledger/passkeys/_authenticator.ts";
import { addTestDevice } from "../operations/devices/protocol/_devices.ts";
import { scrambleSessions } from "../_scramble.ts";
import { storeAs } from "../_servers.ts";
import { serveProviders } from "../operations/models/_models.ts";
import { asSuperuser } from "../_superuser.ts";
import { issueAgentKey, type Json } from "./_platform.ts";
import { anyFinding, anyLesson } from "./_records.ts";

const TOKEN = "a-token-that-others-share-0123456789";
/** All but signing out, after which nobody calls. */
const changing = [...registry.values()].filter((one) =>
  isGoverned(one) && one.presentation?.session !== "ends"
);
/** Calls of the agent with such a title wait for people. */
const ASKING = "Ask first:";
/** They take a person who may decide. */
const BY_PERSON = new Set([
  "grants.make",
  "people.approve_list",
  "people.deny_list",
  "pipeline.approve",
]);

describe("every operation that changes something", () => {
  let people: People;
  let operations: Map<string, Operation<Platform>>;
  let invokes: Readonly<Record<"gateway" | "tools", ReturnType<typeof createInvoke>>>;
  let agent: string;
  let person: string;
  let keyId: string;
  /** Sessions of the agent's key, and of the person's. */
  let session: string;
  let personSession: string;
  let sessions: ReturnType<typeof scrambleSessions>[];
  /** Passkey of the person. */
  let phone: TestAuthenticator;
  let provider: TestProvider;
  let peopleFile: Awaited<ReturnType<typeof followPeopleFile>>;
  /** Secret by which a browser that has begun to sign in is known. */
  let signIn: string | undefined;
  const newAuthenticator = () => createAuthenticator("localhost", people.platform.urls.gateway);
  let runs = 0;
  before(async () => {
    const origin = `http://localhost:${await freePort()}`;
    const redirectUri = `${origin}/console/sign-in/answer`;
    provider = await startProvider({ id: "sealoop", secret: "of a test", redirectUri });
    const file = join(await testFolder(), "people.yaml");
    writeFileSync(file, "people: [{ subject: ada, rights: [read] }]\n");
    people = await openPeople({
      SEALOOP_GATEWAY_URL: origin,
      SEALOOP_OIDC_ISSUER: provider.issuer,
      SEALOOP_OIDC_CLIENT_ID: "sealoop",
      SEALOOP_OIDC_CLIENT_SECRET: "of a test",
      SEALOOP_PEOPLE: file,
      SEALOOP_A2A_TOKEN: TOKEN,
      SEALOOP_LIMIT_TOOLS: "1000",
      ...(await serveProviders()).settings,
    });
    const { platform, store } = people;
    operations = new Map([...registry].map(([name, one]) => [name, countRuns(one)]));
    const tools = await storeAs(store, "tools");
    sessions = [platform.store, tools, store].map(scrambleSessions); // as a pooler between does
    invokes = {
      gateway: createInvoke({ ...platform, operations }),
      tools: createInvoke({ ...platform, store: tools, operations }),
    };
    const issued = await issueAgentKey(store, { tier: "admin", principal: "agent" });
    agent = issued.key;
    keyId = issued.record.id;
    session = await openSession(keyId);
    const fields = { tier: "admin", principal: "person", mayApprove: true } as const;
    const ofPerson = await issueAgentKey(store, fields);
    person = ofPerson.key;
    personSession = await openSession(ofPerson.record.id);
    const when = { keys: [keyId], tools: ["tasks.create"], arguments: { title: `^${ASKING}` } };
    await setGovernance(store, {
      rules: [
        { name: "asks", when, then: "needs_approval", guardrails: false },
        { name: "test", when: { tools: ["*"] }, then: "allow", guardrails: false },
      ],
    });
    const worker = await storeAs(store, "worker");
    peopleFile = await followPeopleFile({
      config: people.loop.config,
      store: worker,
      log: createLog("test", "silent"),
    });
    phone = newAuthenticator();
    await make("people.enrol_passkey", await registration(phone, person), person);
  });
  after(async () => {
    peopleFile?.stop();
    await people?.stop();
    await provider?.stop();
  });

  let number = 0;
  async function call(
    name: string,
    input: Json,
    { door = "rest" as Door, as = "", by = agent, idempotencyKey = "" } = {},
  ): Promise<CallResult> {
    const operation = operations.get(name)!;
    const key = ["token", "session"].includes(operation.access) ? undefined : by;
    return await invokes[door === "rest" ? "gateway" : "tools"](operation, {
      door,
      as: as || Object.keys({ ...operation.rest, ...operation.tool })[0]!,
      input,
      credential: key,
      session: operation.access !== "session" ? undefined : by === person ? personSession : session,
      token: TOKEN,
      ...(idempotencyKey ? { idempotencyKey } : {}),
      signIn,
      requestId: "1",
      address: "127.0.0.1",
      signal: new AbortController().signal,
      detached: true,
    });
  }
  function countRuns(operation: Operation<Platform>): Operation<Platform> {
    return {
      ...operation,
      run(input, context) {
        runs++;
        return operation.run(input, context);
      },
    };
  }
  const make = async (name: string, input: Json, by?: string): Promise<Json> =>
    outputValue((await call(name, input, { door: "rest", ...(by ? { by } : {}) })).output);
  async function openSession(keyId: string): Promise<string> {
    const { tenant } = people.store;
    return await asSuperuser(people.store).transaction(async (trx) => {
      await trx.execute("SELECT set_config('sealoop.tenant', $1, true)", [tenant]);
      return (await putSession(trx, { keyId, recovers: true }, 600)).token;
    });
  }
  const challenge = async (by = agent) => await make("people.passkey_challenge", {}, by);
  const registration = async (authenticator: TestAuthenticator, by = agent) => {
    const { challenge_id, challenge: text } = await challenge(by);
    const { attestation: _, ...answer } = authenticator.register(text);
    return { challenge_id, name: "Phone", registration: answer };
  };
  const openTicket = async () => (await make("tickets.create", { title: "It jams" })).ticket_id;
  const articleSource = (): Json => ({ kind: "period", id: "2026-10" });
  const addTask = async () => ({
    task_id: (await make("tasks.create", { title: "Turn it" })).task_id,
  });
  const askPeople = async () => {
    const { approval_id } = await make("approvals.create", { action: { drop: ++number } });
    return { approval_id };
  };
  /** Has people asked about a call of the agent. */
  async function askAboutCall(): Promise<{ approval_id: string }> {
    const { governance } = await call("tasks.create", { title: `${ASKING} ${++number}` });
    const { approval_id } = (governance!.answer!.output as Json).governance;
    await people.eventually(async () =>
      (await make("approvals.info", { approval_id })).moves.length > 0 || undefined
    );
    return { approval_id };
  }
  const signed = ({ challenge_id, challenge: text }: Json) => ({
    challenge_id,
    assertion: phone.assert(text),
  });
  async function makeGrant(): Promise<Json> {
    const ids = { approval_ids: [(await askAboutCall()).approval_id] };
    const wish = { ...ids, max_uses: 1, expires_in_seconds: 60 };
    return { ...ids, passkey: signed(await make("grants.statement", wish, person)) };
  }
  async function receiptsAbout(subject: string): Promise<Json[]> {
    const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
    return all.map(({ text }) => JSON.parse(text)).filter((receipt) => receipt.subject === subject);
  }
  const addContact = async () => {
    const fields = { name: "Ada", email: `ada${++number}@sealoop.local` };
    return (await make("contacts.create", fields)).contact_id;
  };
  const addDevice = async () => {
    await releaseScripts(people.store, loadScripts());
    return (await addTestDevice(people.platform.store, people.url, people.store.tenant)).id;
  };
  const addDeal = async () => {
    const fields = { title: "Engine", contact_id: await addContact(), currency: "EUR" };
    return (await make("deals.create", fields)).deal_id;
  };
  /** Inputs that need something to act on; others are called as in their example. */
  const inputs: Readonly<Record<string, () => Promise<Json>>> = {
    "keys.revoke": async () => ({ key_id: (await issueAgentKey(people.store)).record.id }),
    "tenants.create": () => Promise.resolve({ name: `Organization ${++number}` }),
    async "workflows.cancel"() {
      const workflow_id = `loop-${randomBytes(8).toString("hex")}`;
      await people.loop.client.workflow.start(WORKFLOW.itsmLoop, {
        taskQueue: `nobody-${TASK_QUEUE.itsm}`,
        workflowId: workflow_id,
        args: [{}],
        typedSearchAttributes: [tenantAttribute(people.store.tenant)],
      });
      return { workflow_id };
    },
    "devices.command": async () => ({ device_id: await addDevice(), script_id: "uptime" }),
    "devices.run_script": async () => ({ agent_id: await addDevice(), script_id: "uptime" }),
    "tasks.update": async () => ({ ...await addTask(), status: "doing" }),
    "tasks.delete": () => addTask(),
    async "calendar.delete"() {
      const event = { title: "Review", start: "2026-07-06T07:30Z", duration_minutes: 30 };
      return { event_id: (await make("calendar.create", event)).event_id };
    },
    "comms.send": () => Promise.resolve({ channel: "feed", text: "I look at billing" }),
    "mail.sequence": async () => ({ contact_id: await addContact(), workflow: "welcome" }),
    "mail.appointment": async () => ({
      contact_id: await addContact(),
      start: `2031-07-07T09:00`,
      time_zone: "UTC",
      duration_minutes: 5,
    }),
    "itsm.loop": () => Promise.resolve({ incident: "A lamp is broken", wait_seconds: 0 }),
    "itsm.test": () => Promise.resolve({ wait_seconds: 0 }),
    "attacks.simulate": () => Promise.resolve({ scenario: "ransomware", wait_seconds: 0 }),
    "security.scan": () => Promise.resolve({ wait_seconds: 0 }),
    "people.sign_in": async () => {
      const { tenant } = people.store;
      const link = await asSuperuser(people.store).transaction(async (trx) => {
        await trx.execute("SELECT set_config('sealoop.tenant', $1, true)", [tenant]);
        return await putSignInLink(trx, { keyId, recovers: false }, 600);
      });
      return { link };
    },
    "people.enrol_passkey": () => registration(newAuthenticator()),
    async "people.revoke_passkey"() {
      const passkey = newAuthenticator();
      const { passkey_id } = await make("people.enrol_passkey", await registration(passkey));
      const { challenge_id, challenge: text } = await challenge();
      return { passkey_id, confirmation: { challenge_id, assertion: passkey.assert(text) } };
    },
    "tickets.acknowledge": async () => ({ ticket_id: await openTicket() }),
    "tickets.take": async () => ({ ticket_id: await openTicket() }),
    async "tickets.hand_back"() {
      const ticket_id = await openTicket();
      await make("tickets.take", { ticket_id });
      return { ticket_id };
    },
    async "tickets.retry"() {
      const ticket_id = `INC-${randomBytes(6).toString("hex")}`;
      await putTicket(asSuperuser(people.store), {
        id: ticket_id,
        title: "It jams",
        description: "",
        severity: "low",
        phase: "diagnosed",
        service: null,
        fingerprint: randomBytes(8).toString("hex"),
        workflowId: null,
        runId: null,
        requestedBy: "test",
      });
      return { ticket_id, wait_seconds: 0 };
    },
    "tickets.close": async () => ({ ticket_id: await openTicket(), resolution: "Turned it" }),
    async "tickets.embed_receipt"() {
      const ticket_id = await openTicket();
      const [receipt] = await people.eventually(async () => {
        const receipts = await receiptsAbout(ticket_id);
        return receipts.length > 0 ? receipts : undefined;
      });
      return { ticket_id, receipt_id: receipt.id };
    },
    async "people.deny_list"() {
      const approval = await askPeople();
      await people.eventually(async () =>
        (await make("approvals.info", approval)).moves.length > 0 || undefined
      );
      return { approval_ids: [approval.approval_id] };
    },
    async "people.approve_list"() {
      const { approval_id } = await askAboutCall();
      const ids = { approval_ids: [approval_id] };
      return { ...ids, passkey: signed(await make("people.list_statement", ids, person)) };
    },
    "grants.make": makeGrant,
    async "grants.revoke"() {
      const { grant_id } = await make("grants.make", await makeGrant(), person);
      return { grant_id };
    },
    async "approvals.offer"() {
      return { ...await askAboutCall(), arguments: { title: "Something else" } };
    },
    async "people.end_sign_in"() {
      provider.signsIn({ sub: "ada", preferred_username: "ada" });
      const begun = await make("people.begin_sign_in", { page: "/console" });
      signIn = begun.sign_in;
      const back = await openBrowser().navigate(begun.url, people.platform.urls.gateway);
      return { answer: back.search.slice(1) };
    },
    "approvals.approve": askPeople,
    "approvals.deny": askPeople,
    async "approvals.reopen"() {
      const approval = await askPeople();
      await make("approvals.deny", approval, person);
      return approval;
    },
    async "security.approve"() {
      const fingerprint = randomBytes(8).toString("hex");
      await recordFindings(asSuperuser(people.store), [anyFinding(fingerprint)]);
      return { index: 0, fingerprint, wait_seconds: 0 };
    },
    async "learning.approve"() {
      const item_id = `LRN-${randomBytes(6).toString("hex")}`;
      await addLearningItems(asSuperuser(people.store), [anyLesson(item_id, await openTicket())]);
      return { item_id };
    },
    async "contacts.create"() {
      return await Promise.resolve({ name: "Ada", email: `ada${++number}@sealoop.local` });
    },
    "contacts.update": async () => ({ contact_id: await addContact(), name: "Grace" }),
    "deals.create": async () => ({
      title: "Engine",
      contact_id: await addContact(),
      currency: "EUR",
    }),
    "deals.update": async () => ({ deal_id: await addDeal(), title: "Loom" }),
    "deals.move": async () => ({ deal_id: await addDeal(), stage: "proposal" }),
    async "partners.move"() {
      const { input } = operations.get("partners.apply")!.example;
      return { ...await make("partners.apply", { ...input }), status: "reviewing" };
    },
    "articles.generate": () => Promise.resolve({ source: articleSource() }),
    async "articles.deploy"() {
      const { article_id } = await make("articles.generate", { source: articleSource() });
      await people.eventually(async () => {
        const row = await people.store.asPlatform().first(
          "SELECT FROM articles WHERE id = $1 AND state <> 'writing'",
          [article_id],
        );
        return row && true;
      });
      await asSuperuser(people.store).execute(
        "UPDATE articles SET state = 'not_published' WHERE id = $1",
        [article_id],
      );
      return { article_id };
    },
    "pipeline.capture": () =>
      Promise.resolve({ kind: "article", title: "What jammed", source: articleSource() }),
    async "pipeline.approve"() {
      const { item_id } = await make("pipeline.capture", { kind: "note", title: "What jammed" });
      return { item_id };
    },
    async "a2a.cancel"() {
      const task = await make("a2a.message", { message_id: "m", parts: [{ text: "qwertz?" }] });
      return { task_id: task.id };
    },
  };

  for (const operation of changing) {
    const { name, access, presentation, governance } = operation;
    for (const { door, as } of bindingsOf(operation)) {
      it(`runs once by a key: ${name} over ${door}`, async () => {
        const input = await inputs[name]?.() ?? operation.example.input;
        const isVote = governance?.humanControl && access === "partner" || BY_PERSON.has(name);
        const options = {
          door,
          as,
          by: isVote ? person : agent,
          idempotencyKey: `walk ${name} ${door}`,
        };
        const first = await call(name, input, options).catch((error) => {
          throw new Error(`${name}: ${asProblem(error).message}; give an input that it can run`);
        });
        const [runsBefore, decisionsBefore] = [runs, await countDecisions(name)];
        const again = await call(name, input, options);
        assert.deepEqual(
          [runs, await countDecisions(name)],
          [runsBefore, decisionsBefore],
          "it neither runs again nor is decided about",
        );
        const { shownOnce = [] } = presentation ?? {};
        const secrets = Object.fromEntries(shownOnce.map((field) => [field, null]));
        const firstOutput = { ...outputValue(first.output) as object, ...secrets };
        assert.deepEqual(asJson(outputValue(again.output)), asJson(firstOutput));
        assert.match(String(again.earlier), /^\d{4}-/);
        await people.sealed(again.receiptId!);
        const { outcome, details } = await receiptOf(again.receiptId!);
        assert.deepEqual([outcome, details.repeats], ["repeated", first.governance!.id]);
      });
    }
  }

  it("leaves nothing on the sessions of the database, and relies on nothing there", () => {
    for (const { left, count } of sessions) {
      assert.ok(count() > 100, `${count()} transactions`);
      assert.deepEqual([...left], []);
    }
  });

  it("can be recovered, or changes nothing more when it is run again", () => {
    const others = changing.filter(({ durability: { commits, recover, startsRun } = {} }) =>
      !commits && !recover && !startsRun
    );
    for (const { name, governance } of others) {
      assert.ok(governance?.humanControl || governance?.rule === "sandbox-and-judgement", name);
    }
  });

  async function countDecisions(name: string): Promise<number> {
    const row = await people.store.asPlatform().first(
      "SELECT count(*)::int AS n FROM governance_decisions WHERE operation = $1",
      [name],
    );
    return row!.n;
  }
  async function receiptOf(id: string): Promise<Json> {
    const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
    return all.map(({ text }) => JSON.parse(text)).find((receipt) => receipt.id === id);
  }
});

/** Returns the interfaces that an operation is bound to; two operations are A2A's own. */
function bindingsOf({ name, rest, tool }: Operation<never>): { door: Door; as: string }[] {
  const isOwn = name === "a2a.message" || name === "a2a.cancel";
  const bindings: { door: Door; as: string }[] = [];
  for (const as of Object.keys(rest ?? {})) bindings.push({ door: "rest", as });
  for (const as of Object.keys(tool ?? {})) bindings.push({ door: isOwn ? "a2a" : "mcp", as });
  return bindings;
}

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
