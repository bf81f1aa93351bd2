import assert from "node:assert/strict";
import { normalizeEmail, openStore, type Store } from "../../store/mod.ts";
import type { ContactFields } from "../../contract/records/mod.ts";
import { addContact, findContactByEmail, getContact, updateContact } from "../../store/crm/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { mayMail, suppressEmail } from "../../store/mail/mod.ts";

describe("normalizeEmail()", () => {
  const SAME = [
    ["Ada@Example.COM", "Ada@example.com", "ada@example.com"],
    ["  ada@example.com\n", "ada@example.com", "ada@example.com"],
    ["a.d.a+news@gmail.com", "a.d.a+news@gmail.com", "a.d.a@gmail.com"],
    ["Ada+A+b@example.com", "Ada+A+b@example.com", "ada@example.com"],
    ["+ada@example.com", "+ada@example.com", "+ada@example.com"],
    ["info@Bücher.example", "info@xn--bcher-kva.example", "info@xn--bcher-kva.example"],
    ["re\u0301ne\u0301@example.com", "réné@example.com", "réné@example.com"],
    ["O'Brien@mail.example", "O'Brien@mail.example", "o'brien@mail.example"],
    ["root@localhost", "root@localhost", "root@localhost"],
  ];
  for (const [text, email, key] of SAME) {
    it(`reads ${JSON.stringify(text)} as ${email}`, () => {
      assert.deepEqual(normalizeEmail(text!), { email, key });
    });
  }

  const WRONG = [
    "",
    "ada",
    "@example.com",
    "ada@",
    "ada@@example.com",
    "ada@exa mple.com",
    "a b@example.com",
    ".ada@example.com",
    "ada.@example.com",
    "a..b@example.com",
    "ada@-example.com",
    "ada@1.2.3.4",
    "ada@[1.2.3.4]",
    '"ada"@example.com',
    "Ada <ada@example.com>",
    "ada@example.com, bob@example.com",
    "ada\r\nBcc: all@example.com",
    "ada\u200b@example.com",
    `${"a".repeat(65)}@example.com`,
    `ada@${"a.".repeat(130)}example`,
    "ada@example..com",
    "ada\u0000@example.com",
  ];
  for (const text of WRONG) {
    it(`refuses ${JSON.stringify(text.slice(0, 40))}`, () => {
      assert.equal(normalizeEmail(text), undefined);
    });
  }
});

describe("contacts", () => {
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.gateway, "gateway", 4);
  });
  after(async () => {
    await store?.close();
    await database?.drop();
  });

  const none = { email: "none", basis: null } as const;

  it("have an address once in a tenant, however it is spelled", async () => {
    const [acme, rival] = [store.asTenant("acme"), store.asTenant("rival")];
    const id = await addContact(acme, { name: "Ada", email: "Ada@Example.com" }, none);
    assert.match(id!, /^CON-[0-9a-f]{12}$/);
    assert.equal(await addContact(acme, { name: "A", email: "ada@EXAMPLE.com" }, none), undefined);
    assert.notEqual(
      await addContact(rival, { name: "A", email: "ada@example.com" }, none),
      undefined,
    );
    assert.equal((await findContactByEmail(acme, "ADA@example.com"))!.contact_id, id);
    assert.equal(await getContact(rival, id!), undefined);
  });

  it("keep every field that people write, when they are added and when they are changed", async () => {
    const db = store.asTenant("acme");
    const first: Required<ContactFields> = {
      name: "Grace",
      email: "grace@example.com",
      phone: "1",
      company: "Navy",
      tags: ["one"],
      source: "form",
      owner: "ann",
    };
    const second: Required<ContactFields> = {
      name: "Hopper",
      email: "hopper@example.com",
      phone: "2",
      company: "Harvard",
      tags: ["two"],
      source: "letter",
      owner: "ben",
    };
    const id = (await addContact(db, first, none))!;
    const added = (await getContact(db, id))!;
    assert.deepEqual(added, { ...added, ...first });
    await updateContact(db, id, second);
    const changed = (await getContact(db, id))!;
    assert.deepEqual(changed, { ...changed, ...second });
  });

  it("are added once by callers at once", async () => {
    const db = store.asTenant("acme");
    const add = (n: number) => addContact(db, { name: `N${n}`, email: "once@example.com" }, none);
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => add(n)));
    assert.equal(ids.filter(Boolean).length, 1);
  });

  it("may be mailed unless their address is suppressed in their tenant", async () => {
    const [acme, rival] = [store.asTenant("acme"), store.asTenant("rival")];
    assert.deepEqual(await mayMail(acme, "bob@example.com"), { allowed: true });
    assert.equal(await suppressEmail(acme, "bob@example.com", "erased"), true);
    assert.equal(await suppressEmail(acme, "bob@example.com", "opted_out"), false);
    assert.deepEqual(await mayMail(acme, "Bob@EXAMPLE.com"), { allowed: false, reason: "erased" });
    assert.deepEqual(await mayMail(rival, "bob@example.com"), { allowed: true });
    assert.deepEqual(await mayMail(acme, "bob"), { allowed: false, reason: "invalid" });
    await addContact(acme, { name: "C", email: "c@example.com" }, {
      email: "opt_out",
      basis: "said so",
    });
    assert.deepEqual(await mayMail(acme, "c@example.com"), { allowed: false, reason: "opted_out" });
  });

  it("leave nothing of a suppressed address in the database", async () => {
    await suppressEmail(store.asTenant("acme"), "secret@example.com", "erased");
    const rows = await store.asTenant("acme").query(
      "SELECT to_jsonb(s)::text AS row FROM suppressions s",
    );
    assert.ok(rows.every(({ row }) => !row.includes("secret")));
  });
});
