import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { settleOpenActs } from "../../activities/acts/mod.ts";
import { approvalKind } from "../../activities/approvals/mod.ts";
import { itemKind } from "../../activities/articles/publishing/mod.ts";
import { outsideActivities } from "../../activities/integrations/mod.ts";
import { approvedActOrder, noteApprovedAct } from "../../operations/integrations/acts/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { addStop, removeStop } from "../../store/calls/mod.ts";
import { listMessages } from "../../store/notices/mod.ts";
import { addPipelineItem, movePipelineItem } from "../../store/articles/mod.ts";
import { asSuperuser } from "../_superuser.ts";
import type { TakingPost, TestMastodon } from "../operations/integrations/_mastodon.ts";
import type { People } from "./_people.ts";
import { FILM, MADE_RECEIPT, openPipeline, summary, type TestPipeline } from "./_publishing.ts";

describe("publishing posts", () => {
  let pipeline: TestPipeline;
  let people: People;
  let mastodon: TestMastodon;

  before(async () => {
    pipeline = await openPipeline();
    ({ people, mastodon } = pipeline);
  });
  beforeEach(() => {
    mastodon.asked.length = 0;
    mastodon.taking = "done";
  });
  after(() => pipeline?.stop());

  /** Makes items old enough to be looked after. */
  const makeOld = (ids: readonly string[]) =>
    people.store.db.execute(
      "UPDATE pipeline_items SET changed_at = changed_at - interval '6 minutes' WHERE id = ANY($1)",
      [ids],
    );

  it("rejects what people deny, and what comes from a key that is not valid any more", async () => {
    const denied = await pipeline.post("Dull");
    assert.equal(await pipeline.decide(denied.approval_id, "deny", "ann"), 200);
    assert.equal(
      summary(await pipeline.ended(denied.item_id)),
      "rejected: platform not_done denied",
    );
    assert.equal((await pipeline.approve(denied.item_id, "ann")).status, 409);
    const lost = await pipeline.post("From a stolen key", "free");
    await asSuperuser(people.store).execute(
      "UPDATE keys SET revoked_at = now() WHERE id = $1",
      [
        people.keyId("free"),
      ],
    );
    const { body } = await pipeline.approve(lost.item_id, "ann");
    assert.equal(summary(body), "rejected: platform not_done key_invalid");
    await people.sealed(body.receipt_id);
    assert.equal(mastodon.asked.length, 0);
  });

  it("publishes nothing while a stop applies", async () => {
    const { item_id, approval_id } = await pipeline.post("Not on Fridays");
    const superuser = asSuperuser(people.store);
    const stop = { kind: "tool", name: "pipeline_capture", reason: "Not on Fridays" } as const;
    await superuser.transaction((trx) => addStop(trx, stop));
    assert.equal(await pipeline.decide(approval_id, "approve", "ann"), 200);
    assert.equal(summary(await pipeline.ended(item_id)), "approved: platform not_done stopped");
    await superuser.transaction((trx) => removeStop(trx, stop));
    assert.equal(mastodon.asked.length, 0);
  });

  it("posts exactly what was approved, once, and tells its address", async () => {
    const text = "The disk was full.\n\nIt is not any more: “df -h” 🎉";
    const item = await pipeline.post(text);
    const { body: approval } = await people.call(
      "GET",
      `/v1/approvals/${item.approval_id}/info`,
      "ann",
    );
    assert.deepEqual([approval.action.text, approval.action.server], [text, mastodon.url]);
    const { body } = await pipeline.approve(item.item_id, "ann");
    assert.equal(summary(body), "published: platform done published");
    assert.match(body.publishing.url, /^https:\/\/social\.example\/@ops\/\d+$/);
    assert.deepEqual(mastodon.posts(), [text]);
    const [{ headers, body: sent }] = mastodon.asked as [TestMastodon["asked"][0]];
    assert.equal(headers["idempotency-key"], item.item_id.replace("ITEM", "ACT"));
    assert.deepEqual(JSON.parse(sent), { status: text, visibility: "public" });
    await people.sealed(body.receipt_id);
    const [receipt] = await pipeline.receiptsOf(hash("sha256", text));
    assert.deepEqual([receipt.id, receipt.subject], [body.receipt_id, item.item_id]);
    assert.doesNotMatch(JSON.stringify(receipt), /disk/);
  });

  it("reads what became of a post from the account itself", async () => {
    mastodon.postByHand("The answer was lost", new Date(Date.now() - 3_600_000));
    mastodon.taking = "lost";
    const lost = await pipeline.post("The answer was lost");
    assert.equal(await pipeline.decide(lost.approval_id, "approve", "ann"), 200);
    const item = await pipeline.ended(lost.item_id);
    assert.equal(summary(item), "published: platform done published");
    assert.equal(mastodon.asked.length, 1);
    mastodon.taking = "refused";
    const { body } = await pipeline.approve((await pipeline.post("Not allowed")).item_id, "ann");
    assert.equal(summary(body), "approved: platform not_done refused");
    assert.equal((await pipeline.approve(body.item_id, "ann")).status, 409);
  });

  it("posts no text twice within an hour, as each post would prove the other", async () => {
    const text = "Added twice,\nas an answer was lost";
    const items = [await pipeline.post(text), await pipeline.post(`${text} `)];
    mastodon.taking = "lost";
    await Promise.all(
      items.map(({ approval_id }) => pipeline.decide(approval_id, "approve", "ann")),
    );
    const ends = await Promise.all(items.map(({ item_id }) => pipeline.ended(item_id)));
    assert.deepEqual(ends.map(summary).sort(), [
      "approved: platform not_done same_text",
      "published: platform done published",
    ]);
    const { body } = await pipeline.approve((await pipeline.post(text)).item_id, "ann");
    assert.equal(summary(body), "approved: platform not_done same_text");
    assert.equal(mastodon.asked.length, 1);
  });

  it("posts on no other server than the one it was approved for", async () => {
    const { attemptAct, readAct } = outsideActivities(people.loop);
    const { db } = people.store;
    mastodon.postByHand("For elsewhere", new Date());
    const attempt = async (id: string, server: string) => {
      const text = "For elsewhere";
      const act = { system: "mastodon", item: id.replace("APR", "ITEM"), text, server } as const;
      await db.transaction((trx) => noteApprovedAct(trx, id, { act, keyId: null }));
      const order = approvedActOrder(id);
      const shown = await readAct(order, { execution_id: null, since_ms: Date.now() });
      const { state } = await attemptAct(order);
      return [state, shown?.state];
    };
    const elsewhere = "https://social.example";
    assert.deepEqual(await attempt("APR-0000000000e1", elsewhere), ["not_done", undefined]);
    assert.equal(mastodon.asked.length, 0);
    assert.deepEqual(await attempt("APR-0000000000e2", mastodon.url), ["sent", "done"]);
  });

  it("leaves to people what is for another network, or another tenant's", async () => {
    const { body: item } = await pipeline.add({ kind: "post", text: "Hello", platform: "x" });
    const { body } = await pipeline.approve(item.item_id, "ann");
    assert.equal(summary(body), "approved: people null other_network");
    const elsewhere = await pipeline.post("Ours", "rival");
    assert.equal((await pipeline.approve(elsewhere.item_id, "ann")).status, 404);
    assert.equal(await pipeline.decide(elsewhere.approval_id, "approve", "operator"), 200);
    const theirs = await people.eventually(async () => {
      const { body } = await people.call("GET", "/api/pipeline/items", "rival");
      return body.items[0].publishing ?? undefined;
    });
    assert.deepEqual([theirs.by, theirs.code], ["people", "operator_only"]);
    assert.equal(mastodon.asked.length, 0);
  });

  it("refuses posts that are too long, or of two minds", async () => {
    const film = { kind: "film", id: FILM };
    const link = `https://example.com/${"a".repeat(480)}`;
    const cases: [object, number][] = [
      [{ kind: "post", text: "a".repeat(501) }, 422],
      [{ kind: "post", text: `${"a".repeat(478)}${link}` }, 422],
      [{ kind: "post", text: "a".repeat(281), platform: "x" }, 422],
      [{ kind: "post", text: "Hello", source: { kind: "period", id: "2026-11" } }, 422],
      [{ kind: "film", source: film, platform: "mastodon" }, 422],
      [{ kind: "note", platform: "mastodon" }, 422],
    ];
    for (const [fields, code] of cases) {
      assert.equal((await pipeline.add(fields)).status, code, JSON.stringify(fields).slice(0, 80));
    }
    assert.equal(
      (await pipeline.add({ kind: "post", text: `${"a".repeat(470)} ${link}` })).status,
      200,
    );
  });

  it("ends items whose run is ended from outside; a post that was begun counts", async () => {
    const waiting = await pipeline.post("Nobody decides");
    mastodon.taking = "lost";
    const begun = await pipeline.post("It was begun");
    const run = (id: string) =>
      people.loop.client.workflow.getHandle(id.replace("ITEM-", "publish-"));
    await pipeline.decide(begun.approval_id, "approve", "ann");
    await people.eventually(() => Promise.resolve(mastodon.asked.length === 1 || undefined));
    await Promise.all([waiting, begun].map(({ item_id }) => run(item_id).terminate()));
    const asking = waiting.item_id.replace("ITEM", "approval-APR");
    await people.eventually(async () => {
      const { status } = await people.loop.client.workflow.getHandle(asking).describe();
      return status.name === "TERMINATED" ? true : undefined; // with its run, so that nobody approves it in vain
    });
    assert.equal(await pipeline.decide(waiting.approval_id, "approve", "ann"), 409);
    assert.equal(await settleOpenActs(people.loop, { item: itemKind }), 0, "they are young");
    await makeOld([waiting.item_id, begun.item_id]);
    const act = people.loop.client.workflow.getHandle(begun.item_id.replace("ITEM-", "act-ACT-"));
    await act.result();
    await people.eventually(async () => {
      await settleOpenActs(people.loop, { item: itemKind });
      return (await pipeline.itemOf(begun.item_id)).stage === "published" || undefined;
    });
    const item = await pipeline.itemOf(begun.item_id);
    assert.match(item.publishing.url, /^https:/);
    await people.sealed(item.receipt_id);
    assert.equal(
      summary(await pipeline.itemOf(waiting.item_id)),
      "rejected: platform not_done stopped",
    );
    await settleOpenActs(people.loop, { approval: approvalKind });
    const { body: expired } = await people.call(
      "POST",
      `/v1/approvals/${waiting.approval_id}/reopen`,
      "ann",
      {},
    );
    assert.match(expired.detail, /^ITEM-\w+, which APR-\w+ is about, has ended \(rejected\)/);
    assert.equal(await settleOpenActs(people.loop, { item: itemKind }), 0, "once");
    assert.equal(mastodon.asked.length, 1);
  });

  it("ends a post as its act ends, also where that was ended from outside, or never began", async () => {
    const { db } = people.store;
    const endedByHand = async (taking: TakingPost, text: string) => {
      const asked = mastodon.asked.length;
      mastodon.taking = taking;
      const { item_id, approval_id } = await pipeline.post(text);
      assert.equal(await pipeline.decide(approval_id, "approve", "ann"), 200);
      await people.eventually(() => Promise.resolve(mastodon.asked.length > asked || undefined));
      await people.loop.client.workflow.getHandle(item_id.replace("ITEM-", "act-ACT-")).terminate();
      return await pipeline.ended(item_id);
    };
    const posted = await endedByHand("held", "It was posted");
    assert.equal(summary(posted), "published: platform done published");
    assert.match(posted.publishing.url, /^https:/);
    const lost = await endedByHand("swallowed", "It was not posted");
    assert.equal(summary(lost), "approved: platform unknown ended_from_outside");
    const unbegun = "ITEM-00000000000b";
    const by = { created_by: "program", created_by_key: null, receipt_id: MADE_RECEIPT };
    const text = { kind: "post", title: "Unbegun", text: "Unbegun", platform: "mastodon" } as const;
    await db.transaction(async (trx) => {
      await addPipelineItem(trx, { id: unbegun, ...text, source: null, stage: "approved", ...by });
      const publishing = { by: "platform", state: "intended", code: "begun", url: null } as const;
      await movePipelineItem(trx, unbegun, ["approved"], { stage: "approved", publishing });
      const server = mastodon.url;
      const act = { system: "mastodon", item: unbegun, text: "Unbegun", server } as const;
      await noteApprovedAct(trx, unbegun.replace("ITEM", "APR"), { act, keyId: null });
    });
    await makeOld([unbegun]);
    assert.equal(await settleOpenActs(people.loop, { item: itemKind }), 1);
    const { stage, publishing } = await pipeline.itemOf(unbegun);
    assert.deepEqual([stage, publishing.state], ["approved", "not_done"]);
    const { messages } = await listMessages(db, { kind: "act.unknown" }, 10);
    assert.deepEqual(
      messages.map(({ refs }) => refs.act_id),
      [lost.item_id.replace("ITEM", "ACT")],
      "people are told of what nobody can tell",
    );
    const ends = await people.eventually(async () => {
      const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
      const found = all.map(({ text }) => JSON.parse(text)).filter(({ category, subject }) =>
        category === "outside_act" && [posted, lost].some(({ item_id }) => item_id === subject)
      );
      return found.length === 4 ? found : undefined;
    });
    assert.deepEqual(ends.map(({ outcome }) => outcome).sort(), [
      "done",
      "intended",
      "intended",
      "unknown",
    ]);
  });
});
