import assert from "node:assert/strict";
import { unknownRecord } from "../../calls/mod.ts";
import { putApproval } from "../../store/approvals/mod.ts";
import { openStore, RECORD_KINDS, type Role, type Store } from "../../store/mod.ts";
import { testDatabase } from "../_servers.ts";
import { anyApproval } from "../store/_approvals.ts";

describe("an unknown record", () => {
  const stores: Store[] = [];
  let open: (role: Role) => Store;
  let drop: () => Promise<void>;
  before(async () => {
    const { urls, drop: end } = await testDatabase();
    open = (role) => {
      const store = openStore(urls[role], role, 2);
      stores.push(store);
      return store;
    };
    drop = end;
  });
  after(async () => {
    for (const store of stores) await store.close();
    await drop();
  });

  const detail = async (...args: Parameters<typeof unknownRecord>) =>
    (await unknownRecord(...args)).message;

  it("has the ids that may be meant, and none that are only other ones", async () => {
    const db = open("worker").asPlatform();
    for (const id of ["APR-0123456789ab", "APR-ffffffffffff"]) {
      await putApproval(db, anyApproval(id));
    }
    assert.equal(
      await detail(db, "approval", "APR-0123456789ac", "the queue lists them"),
      "There is no approval APR-0123456789ac; did you mean APR-0123456789ab?",
    );
    assert.equal(
      await detail(db, "approval", "APR-aaaaaaaaaaaa", "the queue lists them"),
      "There is no approval APR-aaaaaaaaaaaa; the queue lists them",
    );
  });

  it("of another tenant is none that may be meant", async () => {
    const db = open("worker").asTenant("acme");
    assert.equal(
      await detail(db, "approval", "APR-0123456789ac"),
      "There is no approval APR-0123456789ac",
    );
  });

  for (const role of ["gateway", "tools", "worker"] as const) {
    it(`of each kind is told by ${role}, whose rights are enough for it`, async () => {
      const db = open(role).asPlatform();
      for (const kind of RECORD_KINDS) {
        assert.match(await detail(db, kind, "X-0"), new RegExp(`^There is no ${kind} X-0`));
      }
    });
  }
});
