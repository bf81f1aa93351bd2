/** Shared by tests of publishing: a platform with something to publish, and a Mastodon account. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { openMediaFiles } from "../../integrations/media/mod.ts";
import { listReceiptsOfFile } from "../../ledger/receipts/mod.ts";
import { startMastodon, type TestMastodon } from "../operations/integrations/_mastodon.ts";
import { openPeople, type People } from "./_people.ts";
import { addAudioClip, addMediaFile, addVideoProject } from "../../store/media/mod.ts";

// deno-lint-ignore no-explicit-any -- whatever came over the wire
export type Json = any;

/** Ids of the film and the speech that an opened platform has, neither made yet. */
export const FILM = "VID-5b1e09c77a42";
export const SPEECH = "AUD-5b1e09c77a42";
/** Id of the receipt of what is made. */
export const MADE_RECEIPT = "4f1d22a90b7c4f1d";

/** A platform with a Mastodon account, a film and speech, and the calls of its pipeline. */
export interface TestPipeline {
  readonly people: People;
  readonly mastodon: TestMastodon;
  /** Stores a media file. @returns its hash */
  keep(text: string, mediaType: string): Promise<string>;
  /** Adds an item, and waits until people can decide about it. @param who default: the program */
  add(fields: object, who?: string): ReturnType<People["call"]>;
  /** Adds an item that publishes something made. */
  capture(source: object, kind: string, who?: string): ReturnType<People["call"]>;
  /** Adds a post, and returns the item, which people must review. */
  post(text: string, who?: string): Promise<Json>;
  /** Approves an item, and waits for its end. */
  approve(itemId: string, who: string): ReturnType<People["call"]>;
  /** Decides through the approval. @returns the HTTP status */
  decide(approvalId: string, verb: "approve" | "deny", who: string): Promise<number>;
  /** @param who default: the program */
  itemOf(id: string, who?: string): Promise<Json>;
  /** Waits until nothing is left to be done for an item. */
  ended(id: string): Promise<Json>;
  /** Returns the receipts that commit to a file or text. */
  receiptsOf(sha256: string): Promise<Json[]>;
  stop(): Promise<void>;
}

/** Opens a platform that may post to Mastodon. */
export async function openPipeline(): Promise<TestPipeline> {
  const mastodon = await startMastodon("of the test");
  const people = await openPeople({
    SEALOOP_MASTODON_URL: mastodon.url,
    SEALOOP_CREDENTIALS: '{"mastodon":"of the test"}',
    SEALOOP_ACT_WAIT_SECONDS: "2",
  });
  await addVideoProject(people.store.db, {
    id: FILM,
    kind: "film",
    title: "A film",
    format: "landscape",
    captions: true,
    requestedBy: "operator",
    scenes: [{ heading: "One", text: "One." }],
  });
  await addAudioClip(people.store.db, {
    id: SPEECH,
    kind: "post",
    title: "A post",
    text: "Said.",
    voice: "heart",
    requestedBy: "operator",
  });
  const itemOf: TestPipeline["itemOf"] = async (id, who = "program") =>
    (await people.call("GET", "/api/pipeline/items", who)).body.items
      .find(({ item_id }: Json) => item_id === id);
  const ended: TestPipeline["ended"] = (id) =>
    people.eventually(async () => {
      const item = await itemOf(id);
      return item.publishing && item.publishing.state !== "intended" ? item : undefined;
    });
  const approvalOf = async (id: string, who: string): Promise<Json> =>
    (await people.call("GET", `/v1/approvals/${id.replace("ITEM", "APR")}/info`, who)).body;
  /** Waits until people can decide about an item. */
  const asked = (id: string, who: string): Promise<Json> =>
    people.eventually(async () => {
      const { moves = [] } = await approvalOf(id, who);
      return moves.length > 0 ? await itemOf(id, who) : undefined;
    });
  // On a busy machine the answers come before what they wait for.
  const add: TestPipeline["add"] = async (fields, who = "program") => {
    const item = { title: "For everybody", ...fields };
    const answer = await people.call("POST", "/api/pipeline/capture", who, item);
    const { stage, item_id } = answer.body;
    return stage === "review" ? { ...answer, body: await asked(item_id, who) } : answer;
  };
  return {
    people,
    mastodon,
    async keep(text, mediaType) {
      const file = await openMediaFiles(people.platform.config).keepBytes(text);
      await addMediaFile(people.store.db, { ...file, mediaType });
      return file.sha256;
    },
    add,
    capture: (source, kind, who) => add({ kind, source }, who),
    async post(text, who) {
      const { status, body } = await add({ kind: "post", text }, who);
      assert.deepEqual([status, body.stage], [200, "review"], JSON.stringify(body));
      return body;
    },
    async approve(itemId, who) {
      const post = () => people.call("POST", `/api/pipeline/approve/${itemId}`, who, {});
      let answer = await post();
      for (; answer.status === 503; answer = await post()) {
        await sleep(500); // the vote is stored, and may count by itself
        const { approvers } = await approvalOf(itemId, who);
        const isCounted = approvers.some(({ key_id }: Json) => key_id === people.keyId(who));
        if (isCounted) return { ...answer, status: 200, body: await ended(itemId) };
      }
      const { stage, publishing } = answer.body;
      const isUnderWay = stage === "review" || publishing?.state === "intended";
      return isUnderWay ? { ...answer, body: await ended(itemId) } : answer;
    },
    decide: async (approvalId, verb, who) => (await people.vote(approvalId, verb, who)).status,
    itemOf,
    ended,
    receiptsOf: async (sha256) =>
      (await listReceiptsOfFile(people.store, sha256, 5)).map(({ text }) => JSON.parse(text)),
    async stop() {
      await people.stop();
      mastodon.close();
    },
  };
}

/** Returns an item's stage, and what became of its publishing. */
export const summary = ({ stage, publishing }: Json): string =>
  `${stage}: ${publishing.by} ${publishing.state} ${publishing.code}`;
