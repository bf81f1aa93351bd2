import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { settleOpenActs } from "../activities/acts/mod.ts";
import { siteKind } from "../activities/articles/mod.ts";
import { readSiteFile } from "../operations/articles/writing/mod.ts";
import { ROOT } from "../config.ts";
import { eraseContact } from "../operations/crm/records/mod.ts";
import { exportReceipts, getHead, listLedgerKeys, verifyChain } from "../ledger/mod.ts";
import { dumpDatabase, ERASABLE, normalizeEmail } from "../store/mod.ts";
import { addMessage } from "../store/notices/mod.ts";
import { EMAIL, FILES, OTHER, TRACES } from "./_erased_person.ts";
import { callAboutContact, callerOf } from "./_erased_person_calls.ts";
import { publishArticles, siteFolder, storeAboutContact } from "./_erased_person_rows.ts";
import { setGovernance } from "./_governance.ts";
import { program } from "./_programs.ts";
import { testFolder } from "./_run.ts";
import { storeAs } from "./_servers.ts";
import { asSuperuser } from "./_superuser.ts";
import { openPeople, type People } from "./api/_people.ts";
import type { Json } from "./mcp/_a2a.ts";
import { mayMail } from "../store/mail/mod.ts";

/** Tables in which the test puts something about them. */
const TABLES = (
  "a2a_tasks agent_notes approval_moves approvals board_tasks calendar_events contacts conversation_messages deals effects " +
  "email_replies emails evidence findings held_calls idempotent_calls knowledge knowledge_terms knowledge_words " +
  "learning_items messages observations partner_applications private_texts tickets webhook_deliveries " +
  "articles audio_clips media_files transcripts video_projects video_scenes"
).split(" ");
/** Tables of tenants into which no text of people gets, and no argument of a call. */
const NO_TEXTS = new Set((
  "calendar_links calendar_occurrences composed_texts conversations crm_activities deal_stays detections keys log_places " +
  "message_counts message_deliveries message_routing probe_history runbook_values service_edges services " +
  "suppressions ticket_sightings webhooks " +
  "device_inventories device_states device_statements heartbeat_batches split_views tenant_approvers tenant_tokens " +
  "used_enrolment_codes model_spending model_uses spans alert_silences open_acts repair_verdicts " +
  "sign_in_links sessions people passkeys passkey_challenges grants grant_uses public_services"
).split(" "));
/** Tables whose rows are deleted. */
const DELETED = new Set((
  "contacts evidence idempotent_calls knowledge knowledge_terms knowledge_words partner_applications"
).split(" "));

describe("erasing a contact", () => {
  let people: People;
  let contactId: string;
  let waiting: string;
  let repository: string;
  let call: ReturnType<typeof callerOf>;
  before(async () => {
    repository = join(await testFolder(), "site.git");
    git("init", "--quiet");
    people = await openPeople({
      SEALOOP_LIMIT_TOOLS: "1000",
      SEALOOP_ARTICLES_GIT: repository,
      SEALOOP_ARTICLES_GIT_BRANCH: "pages",
    });
    call = callerOf(people);
    ({ contactId, waiting } = await callAboutContact(people));
    await storeAboutContact(people, contactId);
    await publishArticles(people, repository);
  });
  after(() => people?.stop());

  const git = (...args: string[]) =>
    execFileSync("git", ["--git-dir", repository, ...args], { encoding: "utf8" });

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

  it("is refused while an article that names it is being deployed", async () => {
    const { stderr } = await erase("contact", contactId);
    assert.match(stderr, /Cannot erase CON-\w+: ART-0000000000e1 names it/);
    await asSuperuser(people.store).execute(
      `UPDATE articles SET deploy = jsonb_set(deploy, '{state}', '"done"')`,
    );
  });

  it("is refused while a film is being made of its data, or a transcript that may name it", async () => {
    const superuser = asSuperuser(people.store);
    const { stderr } = await erase("contact", contactId);
    assert.match(stderr, /AUD-0{12}, TRN-0{12}, VID-0{12} is being made/);
    for (const table of ["video_projects", "audio_clips", "transcripts"]) {
      await superuser.execute(`UPDATE ${table} SET state = 'done'`);
    }
  });

  it("changes nothing in a dry run, and says what it would erase", async () => {
    const before = await tracesInDump();
    const empty = TABLES.filter((table) => !before[table]);
    assert.deepEqual(empty, [], "the test puts nothing into these");
    const { stdout, stderr } = await erase("contact", contactId, "--dry-run");
    assert.equal(stderr, "");
    const [rows, recordings] = stdout.split("These recordings name it, and are yours to delete:\n");
    assert.match(rows!, /^Would be erased:\n( {2}\w+ {2}\d+\n)+$/);
    assert.equal(recordings, `  ${EMAIL}.wav\n`);
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
    const files = await asSuperuser(people.store).query("SELECT sha256 FROM media_files");
    assert.deepEqual(files.map(({ sha256 }) => sha256), [FILES[3]]);
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

  it("takes articles that name it out of the site, and leaves the others' bytes", async () => {
    const { articles } = (await people.call("GET", "/api/seo/articles")).body;
    assert.deepEqual(articles.map(({ article_id }: Json) => article_id), ["ART-0000000000e2"]);
    const order = { article_id: "ART-0000000000e1", target: "folder" };
    assert.equal((await people.call("POST", "/api/seo/deploy", "admin", order)).status, 409);
    const settle = () => settleOpenActs(people.loop, { site: siteKind });
    const site = join(siteFolder(people), "platform");
    const before = await filesOf(site);
    assert.match(before, TRACES, "nothing was published");
    assert.equal(await settle(), 1);
    assert.equal(await settle(), 0);
    assert.doesNotMatch(await filesOf(site), TRACES);
    assert.doesNotMatch(await filesOf(site), /\[erased\]/, "nobody approved these bytes");
    const page = await readSiteFile(siteFolder(people), "platform", "the-weighbridge/index.html");
    assert.equal(page!.toString(), "<h1>The weighbridge</h1>");
    assert.doesNotMatch(git("grep", "", "pages"), TRACES);
    assert.match(git("show", "pages:the-weighbridge/index.html"), /The weighbridge/);
  });

  /** Returns the paths and texts of all files below a folder. */
  async function filesOf(folder: string): Promise<string> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const texts = entries.filter((entry) => entry.isFile()).map(async ({ parentPath, name }) =>
      `${parentPath}/${name} ${await readFile(join(parentPath, name), "utf8")}`
    );
    return (await Promise.all(texts)).join("\n");
  }

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
