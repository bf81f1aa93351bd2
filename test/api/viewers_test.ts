/** Who has the page of an approval open. */
import assert from "node:assert/strict";
import { EventSource } from "eventsource";
import { openFeedWatch } from "../../calls/mod.ts";
import { asSuperuser } from "../_superuser.ts";
import { approvalCalls } from "./_approvals.ts";
import { openPeople, type People } from "./_people.ts";
import { signedInPeople } from "./_signed_in.ts";

describe("an approval's viewers", () => {
  let people: People;
  before(async () => {
    people = await openPeople();
  });
  after(() => people?.stop());
  const { ask } = approvalCalls(() => people);
  const { signIn } = signedInPeople(() => people);

  /** Opens the stream of an approval's page in somebody's browser. */
  async function look(id: string, who: string) {
    const browser = await signIn(who);
    const source = new EventSource(`${people.url}/v1/comms/stream?viewing=${id}`, {
      fetch: (url, init) =>
        fetch(url, { ...init, headers: { ...init.headers, ...browser } } as RequestInit),
    });
    let shown: string[] = [];
    source.addEventListener("viewers", ({ data }) => {
      shown = JSON.parse(data).people;
    });
    const sees = (names: string[]) =>
      people.eventually(async () => {
        await Promise.resolve();
        return JSON.stringify(shown) === JSON.stringify(names) || undefined;
      });
    return { sees, close: () => source.close() };
  }

  it("see each other come and go, and nobody who looks at another one", async () => {
    const [one, other] = [await ask(), await ask()];
    const ann = await look(one.approval_id, "ann");
    await ann.sees(["ann"]);
    const bob = await look(one.approval_id, "bob");
    const elsewhere = await look(other.approval_id, "bob");
    await Promise.all([ann.sees(["ann", "bob"]), bob.sees(["ann", "bob"])]);
    await elsewhere.sees(["bob"]);
    bob.close();
    await ann.sees(["ann"]);
    ann.close();
    elsewhere.close();
  });

  it("are those of all gateways, and of none that has ended", async () => {
    const { approval_id, tenant_id } = await ask();
    const ann = await look(approval_id, "ann");
    await ann.sees(["ann"]);
    const second = openFeedWatch(people.store, 10);
    const view = { topic: `${tenant_id}/${approval_id}`, name: "carl" };
    const carl = await second.follow(tenant_id, people.keyId("bob"), view);
    await ann.sees(["ann", "carl"]);
    await people.eventually(async () => {
      await Promise.resolve();
      return carl.viewers().join() === "ann,carl" || undefined;
    });
    carl.stop();
    await ann.sees(["ann"]);
    await second.close();
    ann.close();
  });

  it("are shown to those alone who may see the approval, and are stored nowhere", async () => {
    const { approval_id } = await ask();
    const rival = await people.call("GET", `/v1/comms/stream?viewing=${approval_id}`, "rival");
    assert.equal(rival.status, 404);
    const ann = await look(approval_id, "ann");
    await ann.sees(["ann"]);
    const tables = await asSuperuser(people.store).query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relname LIKE '%viewer%'",
    );
    assert.deepEqual(tables, []);
    ann.close();
  });
});
