import assert from "node:assert/strict";
import type { WorkflowHandle } from "@temporalio/client";
import { loadConfig } from "../../config.ts";
import { type PublishResult, publishWorkflowId, WORKFLOW } from "../../contract/domain/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { openMediaFiles } from "../../integrations/media/mod.ts";
import type { KeyRecord } from "../../store/keys/mod.ts";
import { listMessages } from "../../store/notices/mod.ts";
import {
  addPipelineItem,
  getPipelineItem,
  type NewPipelineItem,
} from "../../store/articles/mod.ts";
import {
  startMastodon,
  type TakingPost,
  type TestMastodon,
} from "../operations/integrations/_mastodon.ts";
import { eventually } from "../_time.ts";
import { serveNoEngine } from "./_loop.ts";
import { type LoopBench, openLoopBench, type WorkerProcess } from "./_loop_bench.ts";
import { createApprover, vote } from "./_people.ts";
import {
  addAudioClip,
  addMediaFile,
  finishAudioClip,
  getMediaFile,
} from "../../store/media/mod.ts";

const QUEUE = "itsm-publishing";
const SPEECH = "AUD-5b1e09c77a42";

describe("items whose worker is killed with -9", () => {
  let mastodon: TestMastodon;
  let bench: LoopBench;
  let worker: WorkerProcess;
  let ann: KeyRecord;
  before(async () => {
    mastodon = await startMastodon("of the test");
    bench = await openLoopBench({
      serve: serveNoEngine,
      settings: {
        SEALOOP_MASTODON_URL: mastodon.url,
        SEALOOP_CREDENTIALS: '{"mastodon":"of the test"}',
        SEALOOP_ACT_WAIT_SECONDS: "2",
      },
    });
    ann = await createApprover(bench.store, "ann");
    worker = await bench.worker(QUEUE);
    worker.begin();
  });
  after(async () => {
    await bench?.close();
    mastodon?.close();
  });

  async function start(
    n: string,
    item: Pick<NewPipelineItem, "kind" | "text" | "source" | "platform">,
  ): Promise<WorkflowHandle> {
    const id = `ITEM-0000000000${n}`;
    const by = { created_by: "program", created_by_key: null, receipt_id: `00000000000000${n}` };
    await addPipelineItem(bench.store.db, { id, title: "Killed", stage: "review", ...by, ...item });
    const run = await bench.client.workflow.start(WORKFLOW.publish, {
      taskQueue: QUEUE,
      workflowId: publishWorkflowId(id),
      args: [{ item_id: id }],
    });
    await eventually(async () => (await getPipelineItem(bench.store.db, id))!.approval_id);
    return run;
  }
  const approve = (n: string) => vote(bench, `APR-0000000000${n}`, "approved", ann);
  async function post(n: string, taking: TakingPost): Promise<WorkflowHandle> {
    mastodon.taking = taking;
    const asked = mastodon.asked.length;
    const run = await start(n, {
      kind: "post",
      text: `Post ${n}`,
      source: null,
      platform: "mastodon",
    });
    await approve(n);
    await eventually(() => Promise.resolve(mastodon.asked.length > asked || undefined));
    return run;
  }
  async function speech(n: string): Promise<WorkflowHandle> {
    const { db } = bench.store;
    const files = openMediaFiles(loadConfig({ SEALOOP_DATA: bench.dataDir }));
    const { sha256, bytes } = await files.keepBytes("sound");
    await addMediaFile(db, { sha256, bytes, mediaType: "audio/mpeg" });
    const clip = { id: SPEECH, kind: "speech", title: "", text: "", voice: "heart" } as const;
    await addAudioClip(db, { ...clip, requestedBy: "program" });
    const made = { seconds: 1, sampleRate: 44_100, cues: [], receiptId: "00000000000000ff" };
    await finishAudioClip(db, SPEECH, { ...made, sha256 });
    const source = { kind: "speech", id: SPEECH } as const;
    return await start(n, { kind: "speech", text: null, source, platform: null });
  }

  it("are published once: a post by what the account shows, and files in one transaction", async () => {
    const next = await bench.worker(QUEUE);
    const waiting = await speech("a1");
    const posted = await post("a2", "held");
    const swallowed = await post("a3", "swallowed");
    worker.kill();
    await worker.ended;
    mastodon.taking = "done";
    next.begin();
    await approve("a1");
    const ends = await Promise.all(
      [waiting, posted, swallowed].map(async (run) => {
        const { item_id, stage } = await run.result() as PublishResult;
        return `${stage} ${(await getPipelineItem(bench.store.db, item_id))!.publishing!.state}`;
      }),
    );
    assert.deepEqual(ends, ["published done", "published done", "approved unknown"]);
    assert.equal(mastodon.asked.length, 2, "one attempt each");
    assert.deepEqual(mastodon.posts(), ["Post a2"]);
    const { db } = bench.store;
    const { messages } = await listMessages(db, { kind: "act.unknown" }, 10);
    assert.match(
      messages[0]!.text,
      /\(http:.*\), among the posts of the account, for the text of ITEM-0000000000a3/,
    );
    const [clip] = await db.query("SELECT sha256 FROM audio_clips WHERE id = $1", [SPEECH]);
    assert.ok((await getMediaFile(db, clip!.sha256))!.isPublished);
    const receipts = await eventually(async () => {
      const all = await exportReceipts(bench.store, { from: 0, to: 10_000 });
      const found = all.map(({ text }) => JSON.parse(text)).filter(({ category }) =>
        ["pipeline_item", "outside_act", "media_published"].includes(category)
      );
      return found.length >= 8 ? found : undefined;
    });
    assert.deepEqual(
      receipts.map(({ category, subject, outcome }) => `${subject} ${category} ${outcome}`).sort(),
      [
        `${SPEECH} media_published done`,
        "ITEM-0000000000a1 pipeline_item published",
        "ITEM-0000000000a2 outside_act done",
        "ITEM-0000000000a2 outside_act intended",
        "ITEM-0000000000a2 pipeline_item published",
        "ITEM-0000000000a3 outside_act intended",
        "ITEM-0000000000a3 outside_act unknown",
        "ITEM-0000000000a3 pipeline_item approved",
      ],
    );
  });
});
