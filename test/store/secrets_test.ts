import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { Readable } from "node:stream";
import { mintCode, readCode } from "../../operations/devices/protocol/mod.ts";
import {
  dumpDatabase,
  keyedHash,
  loadDatabase,
  type Role,
  ROLES,
  type Store,
} from "../../store/mod.ts";
import { type SecretPurpose, SECRETS } from "../../store/rights/mod.ts";
import { storeAs, type TestDatabase, testDatabase } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";

const PURPOSES = Object.keys(SECRETS) as SecretPurpose[];
const LOGINS = (Object.keys(ROLES) as Role[]).filter((role) => role !== "owner");
const INSUFFICIENT_PRIVILEGE = { code: "42501" };

describe("the platform's secrets", () => {
  let database: TestDatabase;
  const secrets = new Map<Role, Buffer[]>();
  before(async () => {
    database = await testDatabase();
    for (const role of LOGINS) secrets.set(role, await readAll(role));
  });
  after(() => database?.drop());

  const as = (role: Role): Promise<Store> => storeAs({ url: database.urls[role] }, role);
  const rolesOf = (purpose: SecretPurpose): readonly string[] => SECRETS[purpose];

  /** Returns every secret that a role can read. */
  async function readAll(role: Role): Promise<Buffer[]> {
    const db = (await as(role)).asPlatform();
    const readable = await db.query<{ purpose: string }>(
      `SELECT purpose FROM unnest($1::text[]) AS purpose
       WHERE has_column_privilege('platform_secrets', purpose, 'SELECT')`,
      [PURPOSES],
    );
    if (readable.length === 0) return [];
    const columns = readable.map(({ purpose }) => purpose).join(", ");
    const row = await db.first<Record<string, Buffer>>(`SELECT ${columns} FROM platform_secrets`);
    return Object.values(row!);
  }

  /** Returns the hashes that a role makes by every secret that it can read, as if each were that of the purpose. */
  function forge(role: Role, purpose: SecretPurpose, parts: string[]): string[] {
    const text = JSON.stringify([purpose, ...parts]);
    return secrets.get(role)!.map((secret) =>
      createHmac("sha256", secret).update(text).digest("hex")
    );
  }

  for (const purpose of PURPOSES) {
    it(`make ${purpose} for the roles that are named for it, and nobody else`, async () => {
      const parts = ["a part", "another"];
      const maker = await as(rolesOf(purpose)[0] as Role);
      const genuine = (await keyedHash(maker, purpose, ...parts)).toString("hex");
      for (const role of LOGINS) {
        const store = await as(role);
        const forged = forge(role, purpose, parts);
        if (rolesOf(purpose).includes(role)) {
          assert.equal((await keyedHash(store, purpose, ...parts)).toString("hex"), genuine);
          assert.ok(forged.includes(genuine));
        } else {
          await assert.rejects(keyedHash(store, purpose, ...parts), INSUFFICIENT_PRIVILEGE, role);
          assert.ok(!forged.includes(genuine), `${role} makes ${purpose} by another secret`);
        }
      }
    });
  }

  it("are part of a dump, and of the database into which it is loaded", async () => {
    const [from, to] = [await testDatabase(), await testDatabase()];
    try {
      const renewed = PURPOSES.map((purpose) =>
        `${purpose} = sha256(uuid_send(gen_random_uuid()))`
      );
      await from.executeAsSuperuser(`UPDATE platform_secrets SET ${renewed.join(", ")}`);
      let dump = "";
      await dumpDatabase(from.superuserUrl, (lines) => Promise.resolve(void (dump += lines)));
      await loadDatabase(to.superuserUrl, Readable.from(dump.trimEnd().split("\n")));
      const read = async ({ superuserUrl }: TestDatabase) =>
        await asSuperuser({ url: superuserUrl }).query("SELECT * FROM platform_secrets");
      assert.deepEqual(await read(to), await read(from));
    } finally {
      await Promise.all([from.drop(), to.drop()]);
    }
  });

  it("let nobody but the gateway make a code by which a machine enrols", async () => {
    const gateway = await as("gateway");
    const token = { id: "00112233445566ff", tenant: "acme" } as Parameters<typeof mintCode>[1];
    const code = await mintCode(gateway, token);
    assert.equal((await readCode(gateway, code))?.tokenId, token.id);
    const [id, nonce, expiry] = code.split(".") as [string, string, string];
    for (const role of LOGINS.filter((one) => one !== "gateway")) {
      await assert.rejects(mintCode(await as(role), token), INSUFFICIENT_PRIVILEGE, role);
      for (const mac of forge(role, "enrolment_codes", [id, nonce, expiry])) {
        const forged = [id, nonce, expiry, Buffer.from(mac, "hex").toString("base64url")].join(".");
        assert.equal(await readCode(gateway, forged), undefined, role);
      }
    }
  });
});
