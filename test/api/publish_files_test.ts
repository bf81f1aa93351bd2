import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { openMediaFiles } from "../../integrations/media/mod.ts";
import {
  askAboutItemActivities,
  publishItemActivities,
} from "../../activities/articles/publishing/mod.ts";
import { recoverCall } from "../../calls/recover/mod.ts";
import {
  publishWorkflowId,
  TASK_QUEUE,
  tenantAttribute,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { noteCallEffects } from "../../store/calls/mod.ts";
import {
  addArticle,
  addPipelineItem,
  dropArticle,
  getArticle,
  movePipelineItem,
} from "../../store/articles/mod.ts";
import { asSuperuser } from "../_superuser.ts";
import type { People } from "./_people.ts";
import {
  FILM,
  type Json,
  MADE_RECEIPT,
  openPipeline,
  SPEECH,
  summary,
  type TestPipeline,
} from "./_publishing.ts";
import { finishAudioClip, finishVideo, getMediaFile } from "../../store/media/mod.ts";

describe("publishing files and ideas", () => {
  let pipeline: TestPipeline;
  let people: People;
  let hashes: { mp4: string; vtt: string; srt: string; poster: string };

  before(async () => {
    pipeline = await openPipeline();
    people = pipeline.people;
    const [mp4, vtt, srt, poster] = await Promise.all(
      ["film", "captions", "subtitles", "poster"].map((text) => pipeline.keep(text, "text/vtt")),
    ) as [string, string, string, string];
    hashes = { mp4, vtt, srt, poster };
  });
  after(() => pipeline?.stop());

  const startPublish = (item_id: string) =>
    people.loop.client.workflow.start(WORKFLOW.publish, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: publishWorkflowId(item_id),
      args: [{ item_id }],
      typedSearchAttributes: [tenantAttribute("platform")],
    });
  const isPublished = async (sha256: string) =>
    (await getMediaFile(people.store.db, sha256))!.isPublished;

  it("takes only what is made, and is of that kind", async () => {
    const film = { kind: "film", id: FILM };
    assert.equal((await pipeline.capture(film, "film")).status, 409, "it is not made yet");
    const { db } = people.store;
    const made = {
      seconds: 3,
      unsignedSha256: hash("sha256", "unsigned"),
      receiptId: MADE_RECEIPT,
    };
    await finishVideo(db, FILM, { ...made, artifacts: hashes });
    assert.equal((await pipeline.capture(film, "note")).status, 409);
    assert.equal((await pipeline.capture({ kind: "speech", id: FILM }, "film")).status, 409);
    assert.equal((await pipeline.capture({ kind: "ticket", id: FILM }, "film")).status, 409);
    assert.equal(
      (await pipeline.capture({ kind: "film", id: "VID-000000000000" }, "film")).status,
      404,
    );
    assert.equal(
      (await pipeline.capture(film, "film", "rival")).status,
      404,
      "it is another tenant's",
    );
  });

  it("publishes nothing by the word of a run alone: people have to have approved it", async () => {
    const { publishFiles, takeOverPost } = publishItemActivities(people.loop);
    const { body: film } = await pipeline.capture({ kind: "film", id: FILM }, "film");
    const text = await pipeline.post("Not approved");
    const orderOf = ({ item_id }: Json) => ({ item_id, run: { workflow_id: "any", run_id: "1" } });
    await assert.rejects(publishFiles(orderOf(film)), /it is review/);
    const end = { state: "done", code: "published" } as const;
    await assert.rejects(takeOverPost(orderOf(text), end), /it is review/);
    assert.deepEqual(await pipeline.receiptsOf(hash("sha256", "Not approved")), []);
    await movePipelineItem(people.store.db, film.item_id, ["review"], {
      stage: "approved",
      publishing: { by: "platform", state: "intended", code: "begun", url: null },
    });
    const { stage, code } = await publishFiles(orderOf(film));
    assert.deepEqual([stage, code], ["rejected", "pending"]);
    assert.equal(await isPublished(hashes.mp4), false);
  });

  it("publishes each file by the approval of somebody else, with a receipt that tells its hash", async () => {
    const { body: item } = await pipeline.capture({ kind: "film", id: FILM }, "film");
    assert.deepEqual([item.stage, item.kind], ["review", "film"], JSON.stringify(item));
    assert.match(item.approval_id, /^APR-/);
    assert.equal((await pipeline.approve(item.item_id, "self")).status, 403, "the same holder");
    assert.equal(
      await pipeline.decide(item.approval_id, "approve", "self"),
      403,
      "as by its approval",
    );
    assert.equal(
      (await pipeline.approve(item.item_id, "program")).status,
      403,
      "it may not approve",
    );
    assert.deepEqual(await pipeline.receiptsOf(hashes.mp4), []);
    assert.equal(await isPublished(hashes.mp4), false);
    const [first, second] = await Promise.all(
      ["ann", "bob"].map((who) => pipeline.approve(item.item_id, who)),
    ) as [Json, Json];
    assert.deepEqual([first.status, second.status].sort(), [200, 409], "once");
    const published = first.status === 200 ? first.body : second.body;
    assert.equal(published.stage, "published");
    await people.sealed(published.receipt_id);
    for (const [name, sha256] of Object.entries(hashes)) {
      assert.ok(await isPublished(sha256), name);
      const [receipt, ...more] = await people.eventually(async () => {
        const found = await pipeline.receiptsOf(sha256);
        return found.length > 0 ? found : undefined;
      });
      const { category, subject, details } = receipt;
      assert.deepEqual([category, subject, more.length], ["media_published", FILM, 0]);
      const { item_id, file, file_sha256, made_receipt } = details;
      assert.deepEqual([item_id, file, file_sha256, made_receipt], [
        item.item_id,
        name,
        sha256,
        MADE_RECEIPT,
      ]);
    }
    assert.equal((await pipeline.approve(item.item_id, "ann")).status, 409);
  });

  it("publishes no file that is gone or differs from its hash", async () => {
    const sha256 = await pipeline.keep("sound", "audio/mpeg");
    const made = { seconds: 3, sampleRate: 44_100, cues: [], receiptId: MADE_RECEIPT };
    await finishAudioClip(people.store.db, SPEECH, { ...made, sha256 });
    const speech = { kind: "speech", id: SPEECH };
    const path = (await openMediaFiles(people.platform.config).find(sha256))!;
    for (const spoil of [() => writeFile(path, "other sound"), () => rm(path)]) {
      const { body: item } = await pipeline.capture(speech, "speech");
      await spoil();
      const { body } = await pipeline.approve(item.item_id, "ann");
      assert.equal(summary(body), "approved: platform not_done file_gone");
      assert.equal(await isPublished(sha256), false);
      await writeFile(path, "sound");
    }
    const { body: item } = await pipeline.capture(speech, "speech");
    assert.equal(await pipeline.decide(item.approval_id, "approve", "ann"), 200, "by its approval");
    assert.equal(summary(await pipeline.ended(item.item_id)), "published: platform done published");
    assert.equal(await isPublished(sha256), true);
  });

  it("rejects what nobody decides about in time, or differs from what was approved", async () => {
    const { settings } = people.platform.config;
    const soon = { ...settings, SEALOOP_APPROVAL_EXPIRES_SECONDS: 1 };
    const { askAboutItem, decideItem } = askAboutItemActivities({
      ...people.loop,
      config: { ...people.loop.config, settings: soon },
    });
    const { db } = people.store;
    const source = { kind: "film", id: FILM } as const;
    const by = { created_by: "program", created_by_key: null, receipt_id: MADE_RECEIPT };
    const film = { kind: "film", title: "Late", text: null, source, platform: null } as const;
    const item_id = "ITEM-00000000000a";
    await addPipelineItem(db, { id: item_id, ...film, stage: "review", ...by });
    await askAboutItem({ item_id });
    await startPublish(item_id);
    assert.equal(summary(await pipeline.ended(item_id)), "rejected: platform not_done expired");

    const { item_id: changed, approval_id } = await pipeline.post("As it was");
    await asSuperuser(people.store).execute("UPDATE pipeline_items SET text = 'x' WHERE id = $1", [
      changed,
    ]);
    assert.equal(await pipeline.decide(approval_id, "approve", "ann"), 200);
    assert.equal(summary(await pipeline.ended(changed)), "rejected: platform not_done changed");
    const run = { workflow_id: "publish-again", run_id: "1" };
    const { ended: again } = await decideItem({ item_id: changed, run });
    assert.equal(again?.code, "changed", "once");
    assert.equal(pipeline.mastodon.asked.length, 0);
  });

  it("writes an idea whose approval was lost before the writing began, or offers it again", async () => {
    const { db } = people.store;
    const source = { kind: "knowledge", id: "dns-internal-resolver-down" } as const;
    const { body: { item_id } } = await pipeline.add({ kind: "article", source });
    const id = item_id.replace("ITEM", "ART");
    const decisionId = "GOV-0123456789ab";
    const approved = (noted: boolean) =>
      db.transaction(async (trx) => {
        const by = { requestedBy: "Program", requestedByKey: people.keyId("program") };
        await addArticle(trx, {
          id,
          source,
          keyword: null,
          slug: null,
          pageReceiptId: MADE_RECEIPT,
          ...by,
        });
        await movePipelineItem(trx, item_id, ["idea"], { stage: "draft", articleId: id });
        if (noted) await noteCallEffects(trx, decisionId, { item_id });
      });
    await approved(false);
    assert.equal((await pipeline.itemOf(item_id)).stage, "draft");
    assert.equal(await dropArticle(db, id), true);
    assert.equal((await pipeline.itemOf(item_id)).stage, "idea");
    await approved(true);
    const lost = { operation: "pipeline.approve", since: new Date(), decisionId };
    const found: Json = await recoverCall(people.platform, lost);
    assert.deepEqual([found.state, found.output.article_id], ["done", id]);
    await people.eventually(async () =>
      (await getArticle(db, id))!.state === "review" ? true : undefined
    );
    assert.equal(await dropArticle(db, id), false);
  });
});
