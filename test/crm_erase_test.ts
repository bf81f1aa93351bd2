import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ROOT } from "../config.ts";
import { eraseContact } from "../integrations/crm/mod.ts";
import { exportReceipts, getHead, listLedgerKeys, verifyChain } from "../ledger/mod.ts";
import {
  addLearningItems,
  addMessage,
  dumpDatabase,
  ERASABLE,
  mayMail,
  normalizeEmail,
  recordFindings,
} from "../store/mod.ts";
import { setGovernance } from "./_governance.ts";
import { program } from "./_programs.ts";
import { insertRows } from "./_rows.ts";
import { storeAs } from "./_servers.ts";
import { asSuperuser } from "./_superuser.ts";
import { openPeople, type People } from "./api/_people.ts";
import { a2aClient, type Json, message, skill } from "./mcp/_a2a.ts";
import { connect } from "./mcp/_tool_server.ts";

const NAME = "Zephyrine Quackenbush";
const EMAIL = "Zephyrine.Q@Quäckenbush.example";
const PHONE = "+43 1 78901234";
/** Words that are nowhere else. */
const TRACES = /zephyrin|quackenbush|quäckenbush|xn--quckenbush|78901234/i;
/** Tables in which the test puts something about them. */
const TABLES = (
  "a2a_tasks agent_notes approval_moves approvals board_tasks calendar_events contacts conversation_messages deals effects " +
  "email_replies emails evidence findings held_calls idempotent_calls knowledge knowledge_terms knowledge_words " +
  "learning_items messages partner_applications private_texts tickets webhook_deliveries"
).split(" ");
/** Tables of tenants into which no text of people gets, and no argument of a call. */
const NO_TEXTS = new Set((
  "calendar_links calendar_occurrences conversations crm_activities deal_stays detections keys log_places " +
  "message_counts message_deliveries message_routing probe_history runbook_values service_edges services " +
  "suppressions ticket_sightings webhooks " +
  "device_inventories device_states device_statements heartbeat_batches split_views tenant_approvers tenant_tokens " +
  "used_enrolment_codes model_spending model_uses"
).split(" "));
/** Tables whose rows are deleted. */
const DELETED = new Set((
  "contacts evidence idempotent_calls knowledge knowledge_terms knowledge_words partner_applications"
).split(" "));
/** Somebody else, whose name and address contain the first ones'. */
const OTHER = { name: 'Ada "\\Zip" Byron', email: "ada@zebra.example" };

describe("erasing a contact", function () {
  this.timeout(180_000);
  let people: People;
  let client: Client;
  let contactId: string;
  let waiting: string;
  before(async () => {
    people = await openPeople({ SEALOOP_LIMIT_TOOLS: "1000" });
    contactId = (await call("POST", "/api/contacts", {
      name: NAME,
      email: EMAIL,
      phone: PHONE,
      company: "Mills of Gold",
      consent: { email: "opt_in", basis: `Letter of ${NAME}` },
    }, { "idempotency-key": "first" })).contact_id;
    await call("POST", "/api/contacts", OTHER);
    await useRest();
    await useTools();
    await addTask();
    await talkToAgents();
    await store();
  });
  after(async () => {
    await client?.close();
    await people?.stop();
  });

  async function call(
    method: string,
    path: string,
    body?: object,
    more = {},
    who = "program",
  ): Promise<Json> {
    const answer = await people.call(method, path, who, body, more);
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async function useRest(): Promise<void> {
    await call(
      "POST",
      "/v1/itsm/webhooks",
      { url: "https://93.184.215.14/x", events: ["OPENED"] },
      {},
      "ann",
    );
    const key = { "idempotency-key": "second" };
    await call("POST", "/api/deals", {
      title: `Mill for ${NAME}`,
      contact_id: contactId,
      currency: "EUR",
      amount_minor: 777,
    }, key);
    await call("POST", "/v1/itsm/tickets", {
      title: `${NAME} can't log in`,
      description: `Write to ${EMAIL} or call ${PHONE}. The lamp is red.`,
    }, { "idempotency-key": "third" });
    await call("POST", "/v1/calendar/events", {
      title: "Meeting about the mill",
      start: "2027-01-04T09:00Z",
      duration_minutes: 30,
      contact_id: contactId,
      attendees: [EMAIL],
      location: `House of ${NAME}`,
    });
    await call("POST", "/v1/calendar/events", {
      title: "All hands",
      start: "2027-01-05T09:00Z",
      duration_minutes: 30,
      attendees: [OTHER.email, EMAIL],
    });
    await call("POST", "/v1/approvals", {
      description: `May we visit ${NAME}?`,
      action: { visit: EMAIL },
    })
      .then(({ approval_id }) =>
        call("POST", `/v1/approvals/${approval_id}/deny`, { reason: `${NAME} is away` }, {}, "ann")
      );
    await call("POST", "/api/v1/website/partner-applications", {
      name: NAME,
      email: EMAIL,
      company: "Mills of Gold",
      message: `I am ${NAME}`,
      consent: true,
    });
  }

  /** Calls of an agent that are done, refused, held and denied, held and run, and one that waits. */
  async function useTools(): Promise<void> {
    const { url, key } = await people.tools();
    client = await connect(url, key);
    const use = async (name: string, input: object): Promise<Json> =>
      await client.callTool({ name, arguments: { ...input } });
    await use("crm_update_contact", { contact_id: contactId, name: `${NAME}-Meyer` });
    await use("crm_create_contact", { name: "Someone", email: EMAIL.toUpperCase() });
    await use("crm_create_contact", { name: NAME, email: "no address" });
    await setGovernance(people.store, {
      rules: [{
        name: "ask",
        when: { tools: ["crm_create_contact"] },
        then: "needs_approval",
        reason: "r",
      }],
    });
    const ask = async (fields: object) => {
      const held = await use("crm_create_contact", {
        email: EMAIL,
        on_duplicate: "merge",
        ...fields,
      });
      const id = /APR-[0-9a-f]{12}/.exec(JSON.stringify(held))?.[0];
      assert.ok(id, JSON.stringify(held));
      return id;
    };
    const denied = await ask({ name: `Not ${NAME}` });
    await call("POST", `/v1/approvals/${denied}/deny`, { reason: `No, ${NAME}` }, {}, "ann");
    const approved = await ask({ name: NAME, tags: [`friend of ${NAME}`] });
    await call("POST", `/v1/approvals/${approved}/approve`, { reason: "yes" }, {}, "ann");
    await people.eventually(async () => {
      const { act } = await call("GET", `/v1/approvals/${approved}/info`);
      return act.state === "done" || undefined;
    });
    waiting = await ask({ name: NAME, phone: PHONE });
    const a2a = a2aClient(url, key);
    for (
      const params of [
        { message: message(`What of ${NAME} <${EMAIL}>?`) },
        skill("itsm_create_ticket", { title: `Call ${NAME}` }),
      ]
    ) {
      const { result } = await a2a.ask("message/send", params);
      if (result.kind === "task") {
        await people.eventually(async () => {
          const { result: task } = await a2a.ask("tasks/get", { id: result.id });
          return ["submitted", "working"].includes(task.status.state) ? undefined : task;
        });
      }
    }
  }

  async function addTask(): Promise<void> {
    await call("POST", "/v1/tasks", { title: `Call ${NAME}`, description: `By ${PHONE}` });
  }

  async function talkToAgents(): Promise<void> {
    await call("POST", "/v1/agents/metrics/notes", { text: `Be kind to ${NAME}` });
    await call("POST", "/v1/agents/metrics/message", { text: `How many tickets has ${EMAIL}?` });
    await people.eventually(async () => {
      const { total } = await call("GET", "/v1/agents/metrics/conversation");
      return total === 2 || undefined;
    });
  }

  /** Stores what other parts of the platform store. */
  async function store(): Promise<void> {
    const db = people.store.asPlatform();
    await addMessage(db, {
      kind: "said",
      from: "bob",
      subject: `About ${NAME}`,
      text: `Mail ${EMAIL}`,
    });
    await addMessage(db, { kind: "mail.received", from: EMAIL, subject: "Hello", text: "x" });
    await addMessage(db, {
      kind: "mail.sent",
      from: "mail",
      subject: "Zephyrine wants her mill",
      text: "x",
      refs: { contact_id: contactId },
    });
    const superuser = asSuperuser(people.store);
    const fingerprint = randomBytes(8).toString("hex");
    await recordFindings(superuser, [{
      fingerprint,
      detector: "logs",
      service: null,
      host: null,
      kind: "platform",
      code: "log",
      severity: "high",
      root: fingerprint,
      summary: `login of ${EMAIL} failed`,
      detail: { line: `user=${EMAIL}` },
      target: {},
    }] as never);
    const passage = `${NAME} had no light`;
    await addLearningItems(superuser, [{
      id: `LRN-${randomBytes(6).toString("hex")}`,
      ticket_id: "INC-000000000000",
      title: passage,
      category: "other",
      score: 1,
      factors: [],
      passage: { ...passageOf(passage), terms: { zephyrine: 1, light: 1 } },
      state: "queued",
      receipt_id: null,
    }] as never);
    await superuser.execute(
      `WITH k AS (INSERT INTO knowledge (id, version, kind, category, title, content, sha256, indexed)
         VALUES ('INC-1', 1, 'incident', 'other', $1, $1, 'x', 'x') RETURNING nr)
       INSERT INTO knowledge_terms (word, passage, weight) SELECT w, nr, 1 FROM k, unnest(ARRAY['zephyrin', 'light']) AS w`,
      [passage],
    );
    await superuser.execute(
      "INSERT INTO knowledge_words VALUES (current_tenant(), 'zephyrin', 1), (current_tenant(), 'light', 2), (current_tenant(), '', 2)",
    );
    const mail = { contact_id: contactId, thread_id: "t", subject: "Mill", body: `Dear ${NAME}` };
    await insertRows(superuser, "emails", [{
      ...mail,
      id: "EML-000000000000",
      kind: "mail",
      recipient: EMAIL,
      recipient_key: EMAIL,
      message_id: "m@x",
      message: `\\x${Buffer.from(NAME).toString("hex")}`,
      commitment: "c",
      salt: `\\x${"ab".repeat(32)}`,
      asked_by: "bob",
      state: "sent",
    }]);
    await insertRows(superuser, "email_replies", [{
      ...mail,
      id: "RPL-000000000000",
      sender: EMAIL,
      sender_key: EMAIL,
      message_id: `1.${EMAIL}`,
      mail_references: [`0.${EMAIL}`],
      state: "draft",
      draft: `Dear ${NAME}`,
      receipt_id: "r",
    }]);
    await insertRows(superuser, "devices", [{
      id: "DEV-000000000000",
      name: `Laptop of ${NAME}`,
      platform: "linux",
      public_key: "k",
      runner_key: "k",
      receipt_id: "r",
      enrolment: {},
    }]);
    await insertRows(superuser, "device_commands", [{
      id: "CMD-000000000000",
      device_id: "DEV-000000000000",
      argv: ["mail", EMAIL],
      account: "agent",
      timeout_seconds: 1,
      output_bytes: 1,
      read_only: true,
      expires_at: new Date().toISOString(),
      description: `For ${NAME}`,
      output: `\\x${Buffer.from(NAME).toString("hex")}`,
      requested_by: "bob",
      needed: 1,
      grounds: { rule: null, reasons: [`Asked by ${NAME}`], reaches: [], evidence: [] },
      status: "expired",
    }]);
    await insertRows(superuser, "effects", [{
      id: "effect-1",
      ticket_id: "INC-1",
      service: "s",
      action: {},
      state: "done",
      action_sha256: "0".repeat(64),
      detail: { said: `hello ${NAME}` },
    }]);
  }
  const passageOf = (content: string) => ({
    id: "INC-1",
    kind: "incident",
    category: "other",
    title: content,
    content,
    sha256: "0".repeat(64),
    fault: null,
    indexed: "x",
  });

  /** Returns the tables in which the person is named, as a dump of the whole database shows them. */
  async function tracesInDump(): Promise<Record<string, number>> {
    let rest = "";
    let table = "";
    const found: Record<string, number> = {};
    const look = (line: string) => {
      if (/^\{"name":"\w+","columns":/.test(line)) table = JSON.parse(line).name;
      else if (TRACES.test(line)) found[table] = (found[table] ?? 0) + 1;
    };
    await dumpDatabase(people.loop.database.superuserUrl, (lines) => {
      const parts = (rest + lines).split("\n");
      rest = parts.pop()!;
      parts.forEach(look);
      return Promise.resolve();
    });
    return found;
  }

  async function erase(...args: string[]): Promise<{ stdout: string; stderr: string }> {
    const file = await program("processes/commands/erase.ts");
    const env = {
      PATH: process.env.PATH,
      SEALOOP_DATABASE_OPERATOR_URL: (await storeAs(people.store, "operator")).url,
    };
    return await promisify(execFile)(process.execPath, [file, ...args], { cwd: ROOT, env })
      .catch((error: { stdout: string; stderr: string }) => error);
  }

  it("knows of every table of tenants whether people's texts get into it", async () => {
    const rows = await asSuperuser(people.store).query<{ name: string }>(
      `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE a.attname = 'tenant_id' AND c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY 1`,
    );
    const known = new Set([...ERASABLE.map(({ table }) => table), ...NO_TEXTS, ...DELETED]);
    const unknown = rows.map(({ name }) => name).filter((name) => !known.has(name));
    assert.deepEqual(unknown, [], "add it to ERASABLE in store/_erasable.ts, or to NO_TEXTS");
  });

  it("is refused while an approval waits with its data", async () => {
    const { stderr, stdout } = await erase("contact", contactId);
    assert.match(stderr, new RegExp(`Cannot erase ${contactId}: ${waiting} would run`), stdout);
    await call("POST", `/v1/approvals/${waiting}/deny`, {}, {}, "ann");
  });

  it("is refused while a mail to it is on its way", async () => {
    const superuser = asSuperuser(people.store);
    await superuser.execute(
      "UPDATE emails SET state = 'sending', contact_id = NULL, recipient_key = $1",
      [normalizeEmail(EMAIL)!.key],
    );
    const { stderr } = await erase("contact", contactId);
    assert.match(stderr, /EML-000000000000 is about to be sent/);
    await superuser.execute("UPDATE emails SET state = 'sent'");
  });

  it("changes nothing in a dry run, and says what it would erase", async () => {
    const before = await tracesInDump();
    const empty = TABLES.filter((table) => !before[table]);
    assert.deepEqual(empty, [], "the test puts nothing into these");
    const { stdout, stderr } = await erase("contact", contactId, "--dry-run");
    assert.equal(stderr, "");
    assert.match(stdout, /^Would be erased:\n( {2}\w+ {2}\d+\n)+$/);
    assert.deepEqual(await tracesInDump(), before);
  });

  it("leaves no name, address or telephone in the database, and the rest as it was", async () => {
    const { stdout, stderr } = await erase("contact", EMAIL);
    assert.equal(stderr, "");
    assert.match(stdout, new RegExp(`^Erased ${contactId}:`));
    assert.match(stdout, /backups/);
    assert.deepEqual(await tracesInDump(), {});
    const mails = await asSuperuser(people.store).query("SELECT message, salt FROM emails");
    assert.deepEqual(mails.map(({ message }) => message.length), [0]);
    assert.notEqual(mails[0]!.salt.toString("hex"), "ab".repeat(32));
    const { contacts } = await call("GET", "/api/contacts");
    assert.deepEqual(contacts.map(({ name }: Json) => name), [OTHER.name]);
    const { deals: [deal] } = await call("GET", "/api/deals");
    assert.deepEqual([deal.contact_id, deal.title, deal.amount_minor], [null, "[erased]", 777]);
    const tickets = (await call("GET", "/v1/itsm/incidents")).tickets as Json[];
    const ticket = tickets.find(({ description }) => description.includes("lamp"));
    assert.equal(ticket.title, "[erased] can't log in");
    assert.equal(ticket.description, "Write to [erased] or call [erased]. The lamp is red.");
    const events = await asSuperuser(people.store).query(
      "SELECT * FROM calendar_events ORDER BY starts_at",
    );
    assert.deepEqual(
      events.map(({ title, location, attendees }) => [title, location, attendees]),
      [
        ["[erased]", "[erased]", ["[erased]"]],
        ["All hands", "", [OTHER.email, "[erased]"]],
      ],
    );
  });

  it("leaves the chain whole, with a receipt of the erasure that has ids and counts", async () => {
    const db = people.store.asPlatform();
    const { activities: [erased] } = await call("GET", `/api/activities?contact_id=${contactId}`);
    assert.equal(erased.kind, "contact.erased");
    await people.sealed(erased.receipt_id);
    const { size } = await getHead(people.store);
    const all = (await exportReceipts(people.store, { from: 0, to: size })).map(({ text }) => text);
    const { breaks } = await verifyChain(all, await listLedgerKeys(people.store));
    assert.deepEqual(breaks, []);
    assert.ok(!all.some((text) => TRACES.test(text)));
    const receipt = all.map((text) => JSON.parse(text)).find(({ id }) => id === erased.receipt_id);
    assert.deepEqual([receipt.category, receipt.subject], ["contact_erased", contactId]);
    assert.equal(receipt.details.rows.contacts, 1);
    assert.ok(receipt.details.rows.evidence > 5);
    const left = await asSuperuser(people.store).query(
      `SELECT FROM evidence WHERE receipt_id IN (SELECT receipt_id FROM crm_activities WHERE contact_id = $1)`,
      [contactId],
    );
    assert.equal(left.length, 0);
    assert.deepEqual(await mayMail(db, EMAIL), { allowed: false, reason: "erased" });
  });

  it("holds for whoever is added with the address again", async () => {
    await setGovernance(people.store, { rules: [] });
    const again = await call("POST", "/api/contacts", {
      name: "Z",
      email: EMAIL.toLowerCase(),
      consent: { email: "opt_in", basis: "form" },
    });
    assert.deepEqual([again.consent.email, again.consent.basis], ["opt_out", "suppressed: erased"]);
  });

  it("finds no contact twice, and none of another tenant", async () => {
    assert.match((await erase("contact", contactId)).stderr, /No tenant has the contact/);
    assert.match(
      (await erase("contact", OTHER.email, "--tenant", "nobody")).stderr,
      /no tenant nobody/,
    );
    const operator = await storeAs(people.store, "operator");
    const attempt = operator.asTenant("elsewhere").transaction((trx) =>
      eraseContact(trx, "CON-000000000000", "operator")
    );
    await assert.rejects(attempt, /There is no contact/);
  });

  it("takes whole words alone, and leaves those alone whose names are longer", async () => {
    const { name, email } = OTHER;
    const longer = {
      kind: "said",
      from: "bob",
      subject: "Byronesque",
      text: `gran${email}`,
    } as const;
    await addMessage(people.store.asPlatform(), longer);
    const title = `${name}esque met ${name.toLowerCase()} (${email.toUpperCase()})`;
    const { ticket_id } = await call("POST", "/v1/itsm/tickets", { title });
    assert.equal((await erase("contact", email)).stderr, "");
    const ticket = await call("GET", `/v1/itsm/tickets/${ticket_id}`);
    assert.equal(ticket.title, `${name}esque met [erased] ([erased])`);
    const rows = await asSuperuser(people.store).query(
      "SELECT text FROM messages WHERE text LIKE 'gran%'",
    );
    assert.deepEqual(rows, [{ text: longer.text }]);
    const evidence = await asSuperuser(people.store).query(
      "SELECT FROM evidence WHERE content LIKE '%Zip%'",
    );
    assert.equal(evidence.length, 0);
  });
});
