/** Items of the pipeline: posts to an account, and files that become public. */
import assert from "node:assert/strict";
import type { WorkflowHandle } from "@temporalio/client";
import { loadConfig } from "../../../config.ts";
import { type PublishResult, publishWorkflowId, WORKFLOW } from "../../../contract/domain/mod.ts";
import { openMediaFiles } from "../../../integrations/media/mod.ts";
import {
  addPipelineItem,
  getPipelineItem,
  type NewPipelineItem,
} from "../../../store/articles/mod.ts";
import type { KeyRecord } from "../../../store/keys/mod.ts";
import {
  addAudioClip,
  addMediaFile,
  finishAudioClip,
  getMediaFile,
} from "../../../store/media/mod.ts";
import { listMessages } from "../../../store/notices/mod.ts";
import {
  startMastodon,
  type TakingPost,
  type TestMastodon,
} from "../../operations/integrations/_mastodon.ts";
import { eventually } from "../../_time.ts";
import type { KillSubject, Stage } from "../_kill_stage.ts";
import type { LoopBench } from "../_loop_bench.ts";
import { createApprover, vote } from "../_people.ts";
import { readReceipts } from "../_ticket_record.ts";

const SPEECH = "AUD-5b1e09c77a42";

let mastodon: TestMastodon;
let ann: KeyRecord;

/** Kills of items. */
export const itemKills: KillSubject = {
  async open() {
    mastodon = await startMastodon("of the test");
    return {
      SEALOOP_MASTODON_URL: mastodon.url,
      SEALOOP_CREDENTIALS: '{"mastodon":"of the test"}',
      SEALOOP_ACT_WAIT_SECONDS: "2",
    };
  },
  async prepare({ store }) {
    ann = await createApprover(store, "ann");
  },
  close: () => mastodon?.close(),
  rows: [{
    name:
      "items are published once: a post by what the account shows, and files in one transaction",
    async run(stage) {
      const { bench } = stage;
      const { db } = bench.store;
      await stage.othersAreReady(); // requests that are held would time out
      const waiting = await speech(stage, "c1");
      const posted = await post(stage, "c2", "held");
      const swallowed = await post(stage, "c3", "swallowed");
      await stage.killed(Promise.resolve());
      mastodon.taking = "done";
      await stage.next();
      await approve(bench, "c1");
      const ends = await Promise.all(
        [waiting, posted, swallowed].map(async (run) => {
          const { item_id, stage } = await run.result() as PublishResult;
          return `${stage} ${(await getPipelineItem(db, item_id))!.publishing!.state}`;
        }),
      );
      assert.deepEqual(ends, ["published done", "published done", "approved unknown"]);
      assert.equal(mastodon.asked.length, 2, "one attempt each");
      assert.deepEqual(mastodon.posts(), ["Post c2"]);
      const { messages } = await listMessages(db, { kind: "act.unknown" }, 10);
      assert.match(
        messages[0]!.text,
        /\(http:.*\), among the posts of the account, for the text of ITEM-0000000000c3/,
      );
      const [clip] = await db.query("SELECT sha256 FROM audio_clips WHERE id = $1", [SPEECH]);
      assert.ok((await getMediaFile(db, clip!.sha256))!.isPublished);
      const receipts = await eventually(async () => {
        const found = (await readReceipts(bench.store)).filter(({ category }) =>
          ["pipeline_item", "outside_act", "media_published"].includes(category)
        );
        return found.length >= 8 ? found : undefined;
      });
      assert.deepEqual(
        receipts.map(({ category, subject, outcome }) => `${subject} ${category} ${outcome}`)
          .sort(),
        [
          `${SPEECH} media_published done`,
          "ITEM-0000000000c1 pipeline_item published",
          "ITEM-0000000000c2 outside_act done",
          "ITEM-0000000000c2 outside_act intended",
          "ITEM-0000000000c2 pipeline_item published",
          "ITEM-0000000000c3 outside_act intended",
          "ITEM-0000000000c3 outside_act unknown",
          "ITEM-0000000000c3 pipeline_item approved",
        ],
      );
    },
  }],
};

async function start(
  { bench, start }: Stage,
  n: string,
  item: Pick<NewPipelineItem, "kind" | "text" | "source" | "platform">,
): Promise<WorkflowHandle> {
  const id = `ITEM-0000000000${n}`;
  const by = { created_by: "program", created_by_key: null, receipt_id: `00000000000000${n}` };
  await addPipelineItem(bench.store.db, { id, title: "Killed", stage: "review", ...by, ...item });
  const run = await start(WORKFLOW.publish, publishWorkflowId(id), { item_id: id });
  await eventually(async () => (await getPipelineItem(bench.store.db, id))!.approval_id);
  return run;
}

function approve(bench: LoopBench, n: string) {
  return vote(bench, `APR-0000000000${n}`, "approved", ann);
}

async function post(stage: Stage, n: string, taking: TakingPost): Promise<WorkflowHandle> {
  mastodon.taking = taking;
  const asked = mastodon.asked.length;
  const item = { text: `Post ${n}`, source: null, platform: "mastodon" } as const;
  const run = await start(stage, n, { kind: "post", ...item });
  await approve(stage.bench, n);
  await eventually(() => Promise.resolve(mastodon.asked.length > asked || undefined));
  return run;
}

async function speech(stage: Stage, n: string): Promise<WorkflowHandle> {
  const { store: { db }, dataDir } = stage.bench;
  const files = openMediaFiles(loadConfig({ SEALOOP_DATA: dataDir }));
  const { sha256, bytes } = await files.keepBytes("sound");
  await addMediaFile(db, { sha256, bytes, mediaType: "audio/mpeg" });
  const clip = { id: SPEECH, kind: "speech", title: "", text: "", voice: "heart" } as const;
  await addAudioClip(db, { ...clip, requestedBy: "program" });
  const made = { seconds: 1, sampleRate: 44_100, cues: [], receiptId: "00000000000000ff" };
  await finishAudioClip(db, SPEECH, { ...made, sha256 });
  const source = { kind: "speech", id: SPEECH } as const;
  return await start(stage, n, { kind: "speech", text: null, source, platform: null });
}
