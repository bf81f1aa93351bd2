import assert from "node:assert/strict";
import { createAuthenticator, type TestAuthenticator } from "../ledger/passkeys/_authenticator.ts";
import { approvalCalls } from "./_approvals.ts";
import { type Browser, openBrowser } from "./_browser_session.ts";
import { judgeEvidence } from "./_judge_evidence.ts";
import { openPeople, type People } from "./_people.ts";

describe("an approval whose evidence is opened", () => {
  let people: People;
  let ann: Browser;
  let bob: Browser;
  let phones: Record<"ann" | "bob", TestAuthenticator>;
  before(async () => {
    people = await openPeople();
    const site = ["localhost", people.platform.urls.gateway] as const;
    phones = {
      ann: createAuthenticator(...site),
      bob: createAuthenticator(...site, "RS256"),
    };
    ann = await openBrowser(people, "ann");
    bob = await openBrowser(people, "bob");
    await ann.enrol(phones.ann);
    await bob.enrol(phones.bob);
  });
  after(() => people?.stop());
  const { ask } = approvalCalls(() => people);

  async function approve(browser: Browser, phone: TestAuthenticator, id: string) {
    const path = `/v1/console/approvals/${id}/statement`;
    const { body: { challenge_id, challenge } } = await browser.call("POST", path, {});
    const passkey = { challenge_id, assertion: phone.assert(challenge) };
    const answer = await browser.call("POST", `/v1/approvals/${id}/approve`, { passkey });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    await people.sealed(answer.body.receipt_id);
  }

  const judge = (id: string) => judgeEvidence(people.store, id);

  it("proves what two people signed, who they are, and that they did not ask", async () => {
    const { approval_id } = await ask({ needed: 2, description: "Two\nlines\u202e" });
    await approve(ann, phones.ann, approval_id);
    await approve(bob, phones.bob, approval_id);
    const lines = await judge(approval_id);
    assert.ok(lines.includes("| asks for    Two"), lines.join("\n"));
    assert.ok(lines.includes("|             lines⟨U+202E⟩"));
    assert.equal(lines.filter((line) => /^this credential.* ES256/.test(line)).length, 1);
    assert.equal(lines.filter((line) => /^this credential.* RS256/.test(line)).length, 1);
    assert.equal(
      lines.filter((line) => /^enrolled before that for (ann|bob),/.test(line)).length,
      2,
    );
    assert.ok(
      lines.includes(`${approval_id}: 2 of 2 people have approved; 2 of them are opened`),
    );
    assert.ok(
      lines.some((line) => /asked, who is none of those who are opened$/.test(line)),
      lines.join("\n"),
    );
  });

  it("proves one of a list without the others", async () => {
    const asked = await Promise.all(
      ["a", "b", "c"].map((service) => ask({ action: { command: "restart", service } })),
    );
    const ids = asked.map(({ approval_id }) => approval_id);
    const { body } = await ann.call("POST", "/v1/console/approvals/statement", {
      approval_ids: ids,
    });
    const passkey = {
      challenge_id: body.challenge_id,
      assertion: phones.ann.assert(body.challenge),
    };
    const answer = await ann.call("POST", "/v1/console/approvals/approve", {
      approval_ids: ids,
      passkey,
    });
    await Promise.all(
      answer.body.results.map(({ receipt_id }: { receipt_id: string }) =>
        people.sealed(receipt_id)
      ),
    );
    const lines = await judge(ids[1]);
    assert.ok(
      lines.includes("by one gesture over a list of 3, of which this is number 2"),
      lines.join("\n"),
    );
    for (const other of [ids[0], ids[2]]) assert.ok(!lines.join("\n").includes(other));
  });

  it("says of a key's decision that no passkey has signed it", async () => {
    const { approval_id } = await ask();
    const { body } = await people.vote(approval_id, "approve", "ann");
    await people.sealed(body.receipt_id);
    const lines = await judge(approval_id);
    assert.match(lines.at(-1)!, /, 0 passkey signatures, 0 problems$/);
  });
});
