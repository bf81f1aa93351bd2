import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createPrivateKey, createPublicKey, generateKeyPairSync, hash } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../../config.ts";
import { findKeyOfLink, linkOf } from "../../../operations/calendar/booking/mod.ts";
import { canonicalize } from "../../../ledger/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { putSettingsFile } from "../../../store/platform/mod.ts";
import { addStop, FLAG_STOP, removeStop } from "../../../store/calls/mod.ts";
import { addDevice, addStatement, quarantineDevice } from "../../../store/devices/mod.ts";
import { putPasskey, takeSignInLink } from "../../../store/people/mod.ts";
import { findKeyById, findKeys, findTenantToken, hashKey } from "../../../store/keys/mod.ts";
import { makePhone } from "../../agent/_passkeys.ts";
import { program } from "../../_programs.ts";
import { testFolder } from "../../_run.ts";
import { storeAs, type TestDatabase, testDatabase } from "../../_servers.ts";

/** Programs of the commands, by the names of their scripts in package.json. */
const PROGRAMS: Readonly<Record<string, string>> = {
  keys: "processes/commands/keys.ts",
  devices: "processes/commands/devices.ts",
  tenants: "processes/commands/tenants.ts",
  approvals: "processes/commands/approvals.ts",
  governance: "processes/commands/governance.ts",
  verify: "processes/commands/verify.ts",
  config: "processes/commands/config.ts",
  ledger: "processes/ledger.ts",
};

/** Makes the key of an approver. */
async function makeApprover() {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const path = join(await testFolder(), "approver.pem");
  await writeFile(path, privateKey.export({ format: "pem", type: "pkcs8" }), { mode: 0o600 });
  const hex = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
  return { path, hex };
}

describe("commands of an operator", () => {
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.operator, "operator", 2);
  });
  after(async () => {
    await store.close();
    await database.drop();
  });

  const run = async (command: string, ...words: string[]) => {
    const file = await program(PROGRAMS[command]!);
    const env = { PATH: process.env.PATH, SEALOOP_DATABASE_OPERATOR_URL: database.urls.operator };
    try {
      const args = [file, ...words];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
      return stdout;
    } catch (error) {
      return `refused: ${(error as { stderr: string }).stderr}`;
    }
  };
  const receipts = async () => {
    const { rows } = await store.pool.query("SELECT payload FROM seal_outbox ORDER BY seq");
    return rows.map(({ payload }) => JSON.parse(payload)).map(({ action, subject }) => ({
      action,
      subject,
    }));
  };

  it("issue a key, list it, rotate it and revoke it, all sealed and never shown again", async () => {
    const issued = await run("keys", "issue", "--tenant", "acme", "--principal", "Robin");
    const [, key, id] = /^(slp_partner_\S+)\nIts id is (\w{16})\./.exec(issued) ?? [];
    assert.ok(key && id, issued);
    const listed = await run("keys", "list");
    assert.match(listed, new RegExp(`${id} +valid +partner +full +acme +Robin +no +never +never`));
    assert.ok(!listed.includes(key));

    const gateway = (await storeAs(store, "gateway")).asPlatform();
    const rotated = await run("keys", "rotate", id, "--grace", "2h");
    const other = /Its id is (\w{16})/.exec(rotated)![1]!;
    const { expiresAt } = (await findKeys(gateway, [hashKey(key)]))[0]!;
    assert.ok(Math.abs(expiresAt!.getTime() - Date.now() - 7_200_000) < 60_000);
    assert.match(await run("keys", "revoke", id), /every process refuses it/);
    assert.equal((await findKeys(gateway, [hashKey(key)]))[0], undefined);
    assert.ok(!(await run("keys", "list")).includes(id));
    assert.match(await run("keys", "list", "--all"), new RegExp(`${id} +revoked`));
    assert.deepEqual((await receipts()).map(({ action }) => action), [
      "keys.generate",
      "keys.generate",
      "keys.rotate",
      "keys.revoke",
    ]);
    assert.equal((await findKeyById(store.asPlatform(), other))!.expiresAt, null);
    assert.match(
      await run("keys", "revoke", other.replace(/./g, "0")),
      /refused: There is no valid/,
    );
  });

  it("put a settings file in force, sealed, and refuse one that is wrong", async () => {
    const folder = await testFolder();
    const path = join(folder, "sealoop.governance.yaml");
    const text = "rules:\n  - { name: own, when: { tools: [no_such] }, then: deny }\n";
    await writeFile(path, text);
    assert.match(
      await run("config", "put", path),
      /^Version 1 of the governance file is in force;/,
    );
    assert.equal((await receipts()).at(-1)!.action, "config.put");

    await writeFile(path, text.replace("deny", "allow"));
    assert.match(await run("config", "diff", path), /^-.*then: deny.*\n\+.*then: allow/m);
    assert.match(await run("config", "put", path), /^Version 2 .*, in place of version 1;/);
    assert.equal(await run("config", "get", "governance", "--version", "1"), text);
    const list = await run("config", "list");
    assert.match(list, /^governance +all +2 +\S+ \S+Z +.*, by a command/m);

    await writeFile(path, "rules:\n  - { name: own, than: deny }\n");
    assert.match(
      await run("config", "put", path),
      /refused: Nothing was put in force:\n[^]*:2:18: /,
    );
    assert.match(await run("config", "put", "goverance"), /did you mean governance\?/);
  });

  it("replace the token of an organization, sealed and never shown again", async () => {
    await run("keys", "issue", "--tenant", "tokens");
    const gateway = (await storeAs(store, "gateway")).asPlatform();
    const first = (await run("tenants", "token", "tokens")).trim();
    assert.match(first, /^slp_tenant_[A-Za-z0-9_-]{43}$/);
    const second = (await run("tenants", "token", "tokens", "--expires", "2h")).trim();
    assert.equal(await findTenantToken(gateway, first), undefined);
    const { tenant, expiresAt } = (await findTenantToken(gateway, second))!;
    assert.equal(tenant, "tokens");
    assert.ok(Math.abs(expiresAt.getTime() - Date.now() - 7_200_000) < 60_000);
    const listed = await run("tenants", "list");
    assert.match(listed, /tokens +tokens +active +0 +20\d\d-/);
    assert.ok(!listed.includes(second));
    assert.match(await run("tenants", "revoke-token", "tokens"), /Revoked the token of tokens/);
    assert.equal(await findTenantToken(gateway, second), undefined);
    assert.match(await run("tenants", "revoke-token", "tokens"), /refused: tokens has no valid/);
    assert.match(await run("tenants", "token", "nobody"), /refused: There is no organization/);
    const sealed = (await receipts()).slice(-3);
    assert.deepEqual(sealed.map(({ action, subject }) => [action, subject]), [
      ["tenants.token", "tenant"],
      ["tenants.token", "tenant"],
      ["tenants.revoke-token", "tenant"],
    ]);
  });

  it("name approvers of devices, and change them only with a signature of one of them", async () => {
    await run("keys", "issue", "--tenant", "careful");
    const [old, next] = [await makeApprover(), await makeApprover()];
    assert.match(await run("tenants", "approvers", "careful"), /has no approvers/);
    const named = await run("tenants", "approvers", "careful", "--require", "1", "--key", old.hex);
    assert.match(named, /Version 1: 1 of these approvers have to sign/);
    const change = ["careful", "--require", "1", "--key", next.hex];
    assert.match(await run("tenants", "approvers", ...change), /refused: .*only with 1 signatures/);
    const bad = await run("tenants", "approvers", ...change, "--sign", next.path);
    assert.match(bad, /refused: .*and it has 0/);
    const signed = ["sign-approvers", ...change, "--version", "2", "--sign", old.path];
    const signature = (await run("tenants", ...signed)).trim();
    const changed = await run("tenants", "approvers", ...change, "--signature", signature);
    assert.match(changed, new RegExp(`Version 2: 1 of these .*\n  ${next.hex}\nSealed as`));
    assert.match(await run("tenants", "list"), /careful .* 1 of 1/);
    assert.equal((await receipts()).at(-1)!.action, "tenants.approvers");
    const wrong = await run("tenants", "approvers", "careful", "--require", "2", "--key", next.hex);
    assert.match(wrong, /refused: --require 2 is more than the 1 approvers/);
  });

  it("name a person's passkey as an approver of devices, by a file of what they print", async () => {
    await run("keys", "issue", "--tenant", "phones");
    assert.match(
      await run("tenants", "passkeys", "phones", "ada"),
      /refused: ada .* has no passkey/,
    );
    const { passkey: { credential_id, public_key } } = makePhone();
    const gateway = (await storeAs(store, "gateway")).asTenant("phones");
    await putPasskey(gateway, {
      id: "PKY-0123456789ab",
      principal: "ada",
      name: "Phone",
      credential_id,
      public_key,
      uses: 0,
      receiptId: "0123456789abcdef",
    });
    const printed = await run("tenants", "passkeys", "phones", "ada");
    const site = { rp_id: "localhost", origin: "http://localhost:8080" };
    assert.deepEqual(JSON.parse(printed), { credential_id, public_key, ...site });
    const path = join(await testFolder(), "ada.json");
    await writeFile(path, printed);
    const named = ["phones", "--require", "1", "--passkey", path];
    const fingerprint = hash("sha256", canonicalize(JSON.parse(printed)));
    assert.match(
      await run("tenants", "approvers", ...named),
      new RegExp(`passkey, ${site.origin}, SHA-256 ${fingerprint}\n`),
    );
    const twice = await run("tenants", "approvers", ...named, "--passkey", path);
    assert.match(twice, /refused: A passkey is named twice/);
    await writeFile(path, "{}");
    const empty = await run("tenants", "approvers", ...named);
    assert.match(empty, /refused: .*ada\.json has no passkey/);
  });

  it("renew the link of a key to its calendar, sealed", async () => {
    const issued = await run("keys", "issue", "--tenant", "acme");
    const id = /Its id is (\w{16})/.exec(issued)![1]!;
    const gateway = (await storeAs(store, "gateway")).forTenant("acme");
    const before = await linkOf(gateway, id);
    assert.match(await run("keys", "renew-link", id), /the old one is nobody's/);
    assert.notEqual(await linkOf(gateway, id), before);
    assert.equal(await findKeyOfLink(gateway, before), undefined);
    const { action, subject } = (await receipts()).at(-1)!;
    assert.deepEqual([action, subject], ["keys.renew-link", `key:${id}`]);
    const unknown = id.replace(/./g, "0");
    assert.match(await run("keys", "renew-link", unknown), /There is no valid key with the id/);
  });

  it("print a link by which the holder of a key signs in, once", async () => {
    const issued = await run("keys", "issue", "--tenant", "acme", "--principal", "ada");
    const id = /Its id is (\w{16})/.exec(issued)![1]!;
    const link = async (...words: string[]) =>
      /^http:\/\/localhost:8080\/console\/sign-in#(\S+)$/m
        .exec(await run("keys", "link", id, ...words))![1]!;
    const gateway = await storeAs(store, "gateway");
    const [plain, recovering] = [await link(), await link("--recover")];
    assert.deepEqual(await takeSignInLink(gateway.db, plain), { keyId: id, recovers: false });
    assert.deepEqual(await takeSignInLink(gateway.db, recovering), { keyId: id, recovers: true });
    assert.equal(await takeSignInLink(gateway.db, plain), undefined);
    const unknown = id.replace(/./g, "0");
    assert.match(await run("keys", "link", unknown), /There is no valid key with the id/);
  });

  it("rotate a key that ends into one that ends as well", async () => {
    const idOf = (text: string) => /Its id is (\w{16})/.exec(text)![1]!;
    const life = async (id: string) => {
      const { createdAt, expiresAt } = (await findKeyById(store.asPlatform(), id))!;
      return Math.round((expiresAt!.getTime() - createdAt.getTime()) / 3_600_000);
    };
    const old = idOf(await run("keys", "issue", "--tenant", "acme", "--expires", "90d"));
    const rotated = await run("keys", "rotate", old);
    assert.match(rotated, /It expires at 20/);
    assert.deepEqual([await life(old), await life(idOf(rotated))], [24, 90 * 24]);
    const short = await run("keys", "rotate", idOf(rotated), "--expires", "7d");
    assert.equal(await life(idOf(short)), 7 * 24);
  });

  it("say what would be right", async () => {
    assert.match(await run("keys", "issue"), /refused: issue needs --tenant\n\nUsage/);
    assert.match(
      await run("keys", "issue", "--tenant", "acme", "--principal", "night\u200b-agent"),
      /refused: principal: The name has a character that can't be seen \(U\+200B\); leave it out/,
    );
    assert.match(await run("keys", "rotate", "x"), /needs the id of a key, 16 hex characters/);
    assert.match(await run("governance", "stop", "tool", "x"), /stop needs --reason/);
    assert.match(
      await run("keys", "issue", "--tennant", "acme"),
      /^refused: There is no option --tennant; did you mean --tenant\?\n\nUsage/,
    );
    assert.match(await run("keys", "issue", "--tenant"), /^refused: .*argument missing\n\nUsage/);
    const gone = join(await testFolder(), "gone.yaml");
    assert.equal(
      await run("governance", "check", gone),
      `refused: There is no file ${gone}\n`,
    );
    assert.match(
      await run("ledger", "imprt", "x"),
      /^refused: There is no imprt: .*npm run ledger -- import <file>/,
    );
  });

  for (const command of ["keys", "approvals", "devices", "governance", "verify"]) {
    it(`say at --help how ${command} is used`, async () => {
      assert.match(await run(command, "--help"), /^Usage: npm run /);
    });
  }

  it("make an approver's key in a file of its own, which is never replaced", async () => {
    const path = join(await testFolder(), "own.pem");
    const told = await run("approvals", "new-key", path);
    assert.match(told, /^Public key +[0-9a-f]{64}\nFingerprint +SHA-256 [0-9a-f]{64}\n/);
    const { mode } = await stat(path);
    assert.equal(mode & 0o777, 0o600);
    const key = createPublicKey(createPrivateKey(await readFile(path)));
    const raw = key.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
    assert.ok(told.includes(raw));
    assert.match(await run("approvals", "new-key", path), /^refused: .*EEXIST/);
  });

  it("quarantine a device and release it, sealed, with the numbers that its agent needs", async () => {
    const id = "DEV-0123456789ab";
    const gateway = (await storeAs(store, "gateway")).asPlatform();
    await addDevice(gateway, {
      id,
      name: "web-1",
      platform: "linux",
      publicKey: "0".repeat(64),
      runnerKey: "0".repeat(64),
      receiptId: "0".repeat(16),
      enrolment: {},
    });
    assert.match(
      await run("devices", "list"),
      new RegExp(`${id} +web-1 +platform +linux +offline +never`),
    );
    assert.match(await run("devices", "release", id), /is not quarantined/);
    assert.match(await run("devices", "quarantine", id), /^Quarantined/);
    assert.match(await run("devices", "list"), /quarantined \(by_operator\)/);
    assert.equal(await run("devices", "release", id), `Released ${id}\n`);
    await quarantineDevice(gateway, id, "journal_rolled_back");
    await addStatement(gateway, {
      deviceId: id,
      sequence: 7,
      commandId: null,
      body: "{}",
      salt: Buffer.alloc(32),
      receiptId: "0".repeat(16),
    });
    assert.match(await run("devices", "release", id), /\nsealoop_agent\.py release 7 0\n$/);
    await quarantineDevice(gateway, id, "cloned");
    const restored = await run("devices", "release", id);
    assert.match(restored, /If its folder was put back .*\nsealoop_agent\.py release 7 0\n$/s);
    assert.deepEqual((await receipts()).filter(({ subject }) => subject === id), [
      { action: "quarantine", subject: id },
      { action: "devices.release", subject: id },
      { action: "devices.release", subject: id },
      { action: "devices.release", subject: id },
    ]);
    assert.match(await run("devices", "show", id), /is offline, last seen: never/);
    await quarantineDevice(gateway, id, "replaced");
    assert.match(await run("devices", "release", id), /another device has its place/);
    assert.match(await run("devices", "release", "DEV-1"), /needs a device's id/);
  });

  it("stop calls and let them go on, sealed, and show what decides", async () => {
    assert.match(
      await run("governance", "stop", "tool", "itsm_run_test", "--reason", "look first"),
      /Stopped tool itsm_run_test/,
    );
    const shown = await run("governance", "show");
    assert.match(shown, /acts-on-the-outside +shipped +needs_approval .*security\.approve/);
    assert.match(shown, /tool itsm_run_test: look first/);
    assert.match(await run("governance", "resume", "tool", "itsm_run_test"), /^Resumed/);
    assert.match(await run("governance", "show"), /Nothing is stopped/);
    const file = "/etc/policy.yaml";
    await putSettingsFile(store.asPlatform(), {
      name: "governance",
      place: "n1",
      host: "one",
      path: file,
      hash: "00",
      mistakes: [{ file, line: 3, column: null, text: "rule own", open: null }],
    });
    assert.match(
      await run("governance", "show"),
      /NOT APPLIED: \/etc\/policy\.yaml\n {2}\/etc\/policy\.yaml:3: rule own\nThe policy above stays in force/,
    );
    assert.deepEqual((await receipts()).slice(-2).map(({ subject }) => subject), [
      "tool:itsm_run_test",
      "tool:itsm_run_test",
    ]);
  });

  it("say which flag stops everything where a command can't lift that", async () => {
    const stop = { kind: "all", name: FLAG_STOP, reason: "Moving day" } as const;
    await addStop(store.asPlatform(), stop);
    try {
      assert.match(
        await run("governance", "resume", "all"),
        /All calls are stopped by the flag read_only, .*: Moving day/,
      );
      await run("governance", "stop", "all", "--reason", "x");
      assert.match(
        await run("governance", "resume", "all"),
        /^Still stopped by the flag read_only/,
      );
    } finally {
      await removeStop(store.asPlatform(), stop);
    }
  });

  it("stop no key and no tool that is not here, unless it is wanted all the same", async () => {
    const stop = (...what: string[]) => run("governance", "stop", ...what, "--reason", "x");
    assert.match(
      await stop("tool", "itsm_run_tset"),
      /refused: Nothing was stopped: there is no tool or operation itsm_run_tset; did you mean itsm_run_test/,
    );
    assert.match(await stop("tool", "ledger.search_receipts"), /refused: .* only reads/);
    const issued = await run("keys", "issue", "--tenant", "acme");
    const id = /Its id is (\w{16})/.exec(issued)![1]!;
    const other = id.slice(0, 15) + (id.endsWith("0") ? "1" : "0");
    assert.match(
      await stop("key", other),
      new RegExp(`refused: .*no valid key ${other}; did you mean ${id}\\?`),
    );
    assert.match(await run("governance", "show"), /Nothing is stopped/);
    assert.match(await stop("key", id), new RegExp(`^Stopped key ${id}`));
    assert.match(await stop("tool", "no_such", "--anyway"), /^Stopped tool no_such/);
    await run("governance", "resume", "key", id);
    assert.match(await run("governance", "resume", "tool", "no_such"), /^Resumed/);
  });

  it("check a policy file where there is no platform yet", async () => {
    const folder = await testFolder();
    const file = join(folder, "policy.yaml");
    await writeFile(file, "rules: []\n");
    const args = [await program("processes/commands/governance.ts"), "check", file];
    const env = { PATH: process.env.PATH, SEALOOP_DATA: join(folder, "none") };
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
    assert.match(stdout, /is valid: 0 rules/);
  });

  it("check a policy file", async () => {
    const file = join(await testFolder(), "policy.yaml");
    await writeFile(
      file,
      "rules:\n  - { name: night, when: { hours: { from: '22:00', to: '06:00' } }, then: deny }\n",
    );
    assert.match(await run("governance", "check", file), /is valid: 1 rule$/m);
    await writeFile(file, "rules:\n  - { name: night, when: { hour: 3 }, then: deny }\n");
    assert.match(
      await run("governance", "check", file),
      /refused: line 2: rule night: when\.hour: /,
    );
    await writeFile(
      file,
      "rules:\n  - name: no-attacks\n    when:\n      tools:\n" +
        "        - nobodys_*\n        - simulate_infrastructure_attak\n    then: deny\n",
    );
    assert.match(
      await run("governance", "check", file),
      /refused: .*\n {2}line 5: .* there is no tool or operation nobodys_\*.*\n {2}line 6: rule no-attacks: when\.tools: there is no tool or operation \S+; did you mean simulate_infrastructure_attack/,
    );
  });
});
