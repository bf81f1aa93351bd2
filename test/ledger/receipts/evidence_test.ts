import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { ROOT } from "../../../config.ts";
import { canonicalize, deleteOldEvidence, getReceipt, readEvidence } from "../../../ledger/mod.ts";
import type { Store } from "../../../store/mod.ts";
import { program } from "../../_programs.ts";
import { anyRequest, serveLedger, startSealing, type TestSealing } from "../_ledger.ts";
import { storeAs } from "../../_servers.ts";
import { asSuperuser } from "../../_superuser.ts";

const RETENTION = { days: 300, anonymousDays: 30 };

describe("private evidence", () => {
  let sealing: TestSealing;
  let operator: Store;
  before(async () => {
    sealing = await startSealing();
    operator = await storeAs(sealing.app, "operator");
  });
  after(() => sealing?.stop());
  const db = () => asSuperuser(sealing.app);

  async function seal(id: string, evidence: Record<string, unknown>, actor = "tester") {
    await sealing.sealer.request(anyRequest({ id, evidence, actor }));
    await sealing.sealer.sealed(id);
  }
  const age = (id: string, days: number) =>
    db().execute(
      `WITH aged AS (DELETE FROM evidence WHERE receipt_id = $1 RETURNING *)
       INSERT INTO evidence SELECT tenant_id, receipt_id, name, salt, content, anonymous, now() - make_interval(days => $2)
       FROM aged`,
      [id, days],
    );
  const statesOf = async (id: string) =>
    (await readEvidence(operator, id)).entries.map(({ name, state }) => `${name} ${state}`);

  it("proves to whoever is given content and salt what a receipt commits to", async () => {
    await seal("shown", { note: { text: "private words" }, other: 1 });
    const { entries } = await readEvidence(operator, "shown");
    const { salt, content, commitment } = entries.find(({ name }) => name === "note")!;
    const hash = createHash("sha256").update(Buffer.from(salt!, "hex")).update(content!);
    assert.equal(hash.digest("hex"), commitment);
    assert.equal(content, '{"text":"private words"}');
    const { details } = JSON.parse((await getReceipt(sealing.app, "shown"))!.text);
    assert.equal(details.commitments.note, commitment);
  });

  it("is bounded: of a long entry the beginning is kept, and the hash of the whole", async () => {
    const text = "🔒".repeat(200_000);
    await seal("long", { text });
    const { entries: [entry] } = await readEvidence(operator, "long");
    assert.equal(entry!.state, "proven");
    assert.ok(entry!.content!.length < 100_000);
    const { cut, bytes, sha256, start } = JSON.parse(entry!.content!);
    const whole = canonicalize(text);
    assert.deepEqual([cut, bytes], [true, Buffer.byteLength(whole)]);
    assert.equal(sha256, createHash("sha256").update(whole).digest("hex"));
    assert.ok(whole.startsWith(start));
    await sealing.sealer.request(anyRequest({ id: "long", evidence: { text } })); // the same again
  });

  it("is deleted when it is old, sooner where no key asked; receipts verify as before", async () => {
    await seal("old", { note: "a" });
    await seal("recent", { note: "b" });
    await seal("anonymous-old", { note: "c" }, "anonymous");
    await seal("anonymous-recent", { note: "d" }, "anonymous");
    await Promise.all([age("old", 301), age("recent", 299)]);
    await Promise.all([age("anonymous-old", 31), age("anonymous-recent", 29)]);
    const forever = { days: 0, anonymousDays: 0 };
    assert.equal(await deleteOldEvidence(sealing.app, forever), 0);
    assert.equal(await deleteOldEvidence(sealing.app, RETENTION), 2);
    assert.deepEqual(await statesOf("old"), ["note gone"]);
    assert.deepEqual(await statesOf("recent"), ["note proven"]);
    assert.deepEqual(await statesOf("anonymous-old"), ["note gone"]);
    assert.deepEqual(await statesOf("anonymous-recent"), ["note proven"]);
    const ledger = await serveLedger(sealing.database);
    try {
      const response = await fetch(`${ledger.address}/api/verify/old`);
      assert.equal((await response.json() as { verified: boolean }).verified, true);
    } finally {
      await ledger.stop();
    }
  });

  it("leaves nothing behind by which it could be guessed, and may be repeated", async () => {
    await seal("guessable", { note: "yes" });
    await age("guessable", 301);
    await deleteOldEvidence(sealing.app, RETENTION);
    const row = await db().first<{ request_hash: Buffer }>(
      "SELECT request_hash FROM seal_requests WHERE id = 'guessable'",
    );
    assert.equal(row!.request_hash.length, 0);
    await sealing.sealer.request(anyRequest({ id: "guessable", evidence: { note: "yes" } }));
    await assert.rejects(
      sealing.sealer.request(anyRequest({ id: "guessable", outcome: "other" })),
      /already sealed with another outcome/,
    );
  });

  it("is shown to operators by npm run evidence, which finds what was altered", async () => {
    const run = async (id: string) => {
      const file = await program("processes/commands/evidence.ts");
      const env = {
        PATH: process.env.PATH,
        SEALOOP_DATABASE_OPERATOR_URL: sealing.database.urls.operator,
      };
      return await promisify(execFile)(process.execPath, [file, id], { cwd: ROOT, env })
        .catch((error: { stdout: string; stderr: string }) => error);
    };
    await seal("by-command", { note: "private words" });
    const { stdout, stderr } = await run("by-command");
    assert.equal(stderr, "");
    assert.match(
      stdout,
      /^note is what was sealed\n +commitment +[0-9a-f]{64}\n +salt +[0-9a-f]{64}/,
    );
    assert.match(stdout, /content +"private words"/);
    assert.match((await run("old")).stdout, /^note is gone: it was deleted/);
    await db().execute(
      `WITH old AS (DELETE FROM evidence WHERE receipt_id = 'by-command' RETURNING *)
       INSERT INTO evidence SELECT tenant_id, receipt_id, name, salt, '"other words"', anonymous, at FROM old`,
    );
    const altered = await run("by-command");
    assert.match(altered.stdout, /^note is NOT what was sealed/);
    assert.match(
      altered.stderr,
      /not what was sealed: note of by-command does not fit its commitment/,
    );
  });
});
