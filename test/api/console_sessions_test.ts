import assert from "node:assert/strict";
import { exportReceipts } from "../../ledger/mod.ts";
import type { TestAuthenticator } from "../ledger/passkeys/_authenticator.ts";
import { approvalCalls } from "./_approvals.ts";
import { openPeople, type People } from "./_people.ts";
import { signInLink } from "./_sign_in.ts";
import { OWN_PAGE, signedInPeople } from "./_signed_in.ts";

describe("people who sign in", () => {
  let people: People;
  before(async () => {
    people = await openPeople();
  });
  after(() => people?.stop());
  const { ask, info, becomes, receiptsOf } = approvalCalls(() => people);
  const { call, newAuthenticator, signIn, enrol, propose, approve } = signedInPeople(() => people);

  const link = (who: string) => signInLink(people, who);

  it("do so once by a link, may what their key may, and are signed out for good", async () => {
    const used = await link("ann");
    const body = { link: used };
    const first = await people.call("POST", "/v1/console/session", undefined, body, OWN_PAGE);
    const browser = { ...OWN_PAGE, cookie: first.headers.get("set-cookie")!.split(";")[0]! };
    const again = await people.call("POST", "/v1/console/session", undefined, body, OWN_PAGE);
    assert.equal(again.status, 401);
    assert.match(again.body.detail, /was used, has expired/);

    const who = await call(browser, "GET", "/v1/console/session");
    assert.deepEqual(
      [who.body.principal, who.body.rights, who.body.passkeys],
      ["ann", ["read", "respond", "approve"], 0],
    );
    assert.equal((await call(browser, "GET", "/v1/approvals")).status, 200);
    assert.equal((await call(browser, "GET", "/v1/admin/flags")).status, 403);

    const stream = await fetch(`${people.url}/v1/comms/stream`, { headers: browser });
    const heard = stream.text(); // until it ends
    const out = await call(browser, "DELETE", "/v1/console/session");
    assert.equal(out.status, 200, JSON.stringify(out.body));
    assert.match(out.headers.get("set-cookie")!, /^sealoop=; Max-Age=0;/);
    assert.match(await heard, /event: position/);
    const after = await call(browser, "GET", "/v1/console/session");
    assert.equal(after.status, 401);
    assert.match(after.body.detail, /Your session has ended/);
  });

  it("are not those whose cookie another page or a program sends", async () => {
    const cookie = (await signIn("ann")).cookie!;
    const foreign: Record<string, string>[] = [
      {},
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
    ];
    for (const headers of foreign) {
      const answer = await call({ ...headers, cookie }, "GET", "/v1/console/session");
      assert.ok([401, 403].includes(answer.status), JSON.stringify([headers, answer.body]));
    }
    const posed = { cookie, "sec-fetch-site": "same-origin", origin: "https://evil.example" };
    assert.equal((await call(posed, "DELETE", "/v1/console/session")).status, 403);
    const rebound = { cookie, ...OWN_PAGE, "x-forwarded-host": "evil.example" };
    assert.equal((await call(rebound, "GET", "/v1/console/session")).status, 403);
  });

  it("end with their key", async () => {
    const browser = await signIn("bob");
    const revoked = await people.call("POST", "/v1/keys/revoke", "admin", {
      key_id: people.keyId("bob"),
    });
    assert.equal(revoked.status, 200);
    assert.equal((await call(browser, "GET", "/v1/approvals")).status, 401);
  });

  it("approve by a passkey alone, over what they were shown, and deny by a click", async () => {
    const browser = await signIn("ann", true);
    const phone = newAuthenticator();
    const enrolled = await enrol(browser, phone);
    assert.equal(enrolled.status, 201, JSON.stringify(enrolled.body));
    const { approval_id } = await ask({ description: "Old sessions" });

    const click = await call(browser, "POST", `/v1/approvals/${approval_id}/approve`, {});
    assert.equal(click.status, 403);
    assert.match(click.body.detail, /takes your passkey/);

    const { challenge_id, challenge, statement } = await propose(browser, approval_id);
    assert.equal(statement.act, (await info(approval_id)).action_commitment);
    const answer = { challenge_id, assertion: phone.assert(challenge) };
    const approved = await approve(browser, approval_id, answer);
    assert.equal(approved.status, 200, JSON.stringify(approved.body));
    assert.equal(approved.body.status, "approved");
    const replayed = await approve(browser, approval_id, answer);
    assert.equal(replayed.status, 409);

    const denied = await ask();
    const no = await call(browser, "POST", `/v1/approvals/${denied.approval_id}/deny`, {});
    assert.equal(no.body.status, "denied", JSON.stringify(no.body));
    await becomes(denied.approval_id, "denied");
    await people.sealed(approved.body.receipt_id);
    const receipts = await receiptsOf(approval_id);
    assert.ok(!JSON.stringify(receipts).includes(phone.credentialId), "the credential is private");
  });

  it("approve with no answer that is another's, of another session, page, approval or state", async () => {
    const browser = await signIn("ann", true);
    const [phone, strange] = [newAuthenticator(), newAuthenticator()];
    await enrol(browser, phone);
    const [one, other] = [await ask(), await ask()];
    const id = one.approval_id;

    const refused = async (answer: object, status: number, reason: RegExp, by = browser) => {
      const { status: actual, body } = await approve(by, id, answer);
      assert.deepEqual(
        [actual, body.detail?.match(reason)?.[0] !== undefined],
        [status, true],
        body.detail,
      );
    };
    const given = await propose(browser, id);
    const { challenge_id, challenge } = given;
    await refused({ challenge_id, assertion: strange.assert(challenge) }, 403, /not one of yours/);
    const posed = { ...strange.assert(challenge), credential_id: phone.credentialId };
    await refused({ challenge_id, assertion: posed }, 403, /signature is not that/);
    const deviations = [
      [{ flags: 0x01 }, /was not verified/],
      [{ origin: "https://evil.example" }, /asked for by a page of https:\/\/evil.example/],
      [{ rpId: "evil.example" }, /for another site/],
      [{ count: 1 }, /used less often than before/],
    ] as const;
    for (const [deviation, reason] of deviations) {
      await refused({ challenge_id, assertion: phone.assert(challenge, deviation) }, 403, reason);
    }
    const foreign = await propose(browser, other.approval_id);
    const assertion = phone.assert(foreign.challenge);
    await refused({ challenge_id: foreign.challenge_id, assertion }, 409, /look again/);
    await refused({ challenge_id, assertion }, 403, /another challenge/);
    const second = await signIn("ann");
    await refused(
      { challenge_id, assertion: phone.assert(challenge) },
      409,
      /answered already/,
      second,
    );

    assert.equal((await people.vote(id, "deny", "ann2")).body.status, "denied");
    assert.equal((await people.vote(id, "reopen", "ann2")).body.status, "pending");
    await refused(
      { challenge_id, assertion: phone.assert(challenge) },
      409,
      /changed since you looked/,
    );
    assert.equal((await info(id)).status, "pending");
  });

  it("enrol a second passkey by the first one, and revoke by one of them", async () => {
    const browser = await signIn("ann", true);
    const [phone, laptop, thief] = [newAuthenticator(), newAuthenticator(), newAuthenticator()];
    assert.equal((await enrol(browser, phone)).status, 201);
    const plain = await signIn("ann");
    const alone = await enrol(plain, thief);
    assert.equal(alone.status, 403, "a session alone enrols no further one");
    assert.match(alone.body.detail, /takes its answer/);
    assert.equal((await enrol(plain, thief, thief)).status, 403);
    assert.equal((await enrol(plain, laptop, phone)).status, 201);
    assert.equal((await enrol(plain, laptop, phone)).status, 409, "it is enrolled already");

    const { body: list } = await call(plain, "GET", "/v1/console/passkeys");
    const { passkey_id } = list.passkeys.at(-1);
    const { body: given } = await call(plain, "POST", "/v1/console/passkeys/challenge", {});
    const revoke = (by: TestAuthenticator) =>
      call(plain, "POST", `/v1/console/passkeys/${passkey_id}/revoke`, {
        confirmation: { challenge_id: given.challenge_id, assertion: by.assert(given.challenge) },
      });
    assert.equal((await revoke(thief)).status, 403);
    const revoked = await revoke(phone);
    assert.equal(revoked.status, 200, JSON.stringify(revoked.body));
    const { approval_id } = await ask();
    const { challenge_id, challenge } = await propose(plain, approval_id);
    const late = await approve(plain, approval_id, {
      challenge_id,
      assertion: laptop.assert(challenge),
    });
    assert.equal(late.status, 403);
  });

  it("make no decision of their own by a click, whatever their key may", async () => {
    const browser = await signIn("ann", true);
    const key = await people.call("GET", "/v1/approvals", "ann");
    assert.equal(key.status, 200);
    const { approval_id } = await ask();
    const withKey = await people.call("POST", `/v1/approvals/${approval_id}/approve`, "ann", {
      passkey: { challenge_id: "0".repeat(32), assertion: newAuthenticator().assert("AAAA") },
    });
    assert.equal(withKey.status, 403, "a key has no passkey");
    await call(browser, "POST", `/v1/approvals/${approval_id}/deny`, {});
  });

  it("are in receipts that say nothing of them", async () => {
    const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
    const kinds = new Set(["session_opened", "passkey_enrolled", "passkey_revoked"]);
    const own = all.map(({ text }) => JSON.parse(text)).filter(({ category }) =>
      kinds.has(category)
    );
    assert.ok(own.length > 5);
    const text = JSON.stringify(own);
    for (const word of ["Phone", "key:", "PKY-", people.keyId("ann")]) {
      assert.ok(!text.includes(word), word);
    }
  });
});
