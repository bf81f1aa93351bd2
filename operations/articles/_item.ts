import { unknownRecord } from "../../calls/mod.ts";
import { z } from "zod";
import { type NetworkName, NETWORKS } from "./writing/mod.ts";
import type { Context } from "../../calls/mod.ts";
import {
  ARTICLE_SOURCES,
  describeFailure,
  PERSON_ACTOR,
  PIPELINE_STAGES,
  PUBLISHING_STATES,
} from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  getPipelineItem,
  PIPELINE_KINDS,
  type PipelineItem as Item,
  type Publishing as PublishingRecord,
} from "../../store/articles/mod.ts";
import { oneLine, Timestamp } from "../schemas/mod.ts";
import { ArticleSource } from "./_schemas.ts";

/** The parts that the operations of the pipeline share. */
export const PIPELINE = {
  group: "missions",
  access: "key",
  presentation: { untrusted: true },
} as const;

/** Id of an item. */
export const ItemId = z.string().regex(
  /^ITEM-[0-9a-f]{12}$/,
  "Expected ITEM- and 12 hex characters",
)
  .describe("Id of the item, such as ITEM-5b1e09c77a42");

/** Stage of an item. */
export const Stage = z.enum(PIPELINE_STAGES);

/** Network that a post is for. */
export const Network = z.enum(Object.keys(NETWORKS) as [NetworkName, ...NetworkName[]]);

/** Source of an article, or the work that is published. */
export const PipelineSource = ArticleSource.extend({
  kind: z.enum([...ARTICLE_SOURCES, "film", "speech"]).describe(
    "What an article is to be written from; film and speech: what is to be published",
  ),
  id: oneLine(1, 200).describe(
    "As POST /api/seo/generate takes it; of a film its project_id, of speech its audio_id",
  ),
});

const Publishing = z.object({
  by: z.enum(["platform", "people"]).describe("people: the platform does not publish it"),
  state: z.enum(PUBLISHING_STATES).nullable().describe(
    "intended: it has begun; unknown: nobody can tell, and it is not repeated; null: people alone know",
  ),
  code: z.string().describe("published, or why not: denied, file_gone, timeout, not_configured, …"),
  url: z.string().nullable().describe("Address of a published post"),
  about: z.string().describe("The same for people"),
});

/** An item of the pipeline. */
export const PipelineItem = z.object({
  item_id: ItemId,
  kind: z.enum(PIPELINE_KINDS),
  title: z.string(),
  text: z.string().nullable(),
  source: PipelineSource.nullable(),
  platform: Network.nullable().describe("Of a post: the network that it is for"),
  stage: Stage.describe("Of an item with an article: how far that is"),
  article_id: z.string().nullable(),
  approval_id: z.string().nullable().describe("The approval that it waits for, or waited for"),
  publishing: Publishing.nullable().describe(
    "Null: people have not decided yet, or it has an article, whose status tells",
  ),
  receipt_id: z.string().describe("The newest receipt"),
  created_by: z.string(),
  created_at: Timestamp,
}).meta({ id: "PipelineItem" });

/** An idea, for examples. */
export const exampleItem: z.output<typeof PipelineItem> = {
  item_id: "ITEM-5b1e09c77a42",
  kind: "article",
  title: "What we learnt from the full disk",
  text: null,
  source: { kind: "ticket", id: "INC-3f9a01c2b7d4" },
  platform: null,
  stage: "idea",
  article_id: null,
  approval_id: null,
  publishing: null,
  receipt_id: "4f1d22a90b7c4f1d",
  created_by: "ada",
  created_at: "2026-07-01T12:00:00.000Z",
};

/** Sentences about what became of publishing. */
const ABOUT: Readonly<Record<string, string>> = {
  published: "It is published",
  begun: "It is being published",
  denied: "People have denied it",
  expired: "Nobody decided in time; add it again",
  changed: "It, or the server, is not what people were asked about; add it again",
  key_invalid: "The key that added it was revoked or has expired; add it again",
  file_gone: "A file is gone or changed; make it again, and add it again",
  stopped: "It was stopped; add it again",
  same_text: "The same text is being posted, or was within an hour; add it again later",
  idea: "People publish it: the platform publishes articles, films, speech, and posts with a text",
  other_network: "People publish it: the platform posts on Mastodon alone",
  operator_only: "People publish it: the platform posts for its operator alone",
  not_configured:
    "People publish it: set SEALOOP_MASTODON_URL to have the platform post on Mastodon",
};

function describe({ state, code }: PublishingRecord): string {
  if (state === "unknown") {
    return `Nobody can tell whether it was published (${
      describeFailure(code)
    }); the message act.unknown tells where to look`;
  }
  return ABOUT[code] ?? `It was not published (${describeFailure(code)}); add it again`;
}

/** Returns what callers see of an item. */
export function toItem(
  { created_by_key: _, publishing, ...item }: Item,
): z.input<typeof PipelineItem> {
  return {
    ...item,
    platform: item.platform as NetworkName | null,
    publishing: publishing && { ...publishing, about: describe(publishing) },
  };
}

/** Returns an item. @throws {Problem} `NotFound` */
export async function requireItem(db: Db, id: string): Promise<Item> {
  const item = await getPipelineItem(db, id);
  if (item) return item;
  throw await unknownRecord(db, "item", id, "GET /api/pipeline/items lists them");
}

/** A move of an item by a person. */
interface Move {
  readonly id: string;
  readonly receiptId: string;
  readonly action: string;
  readonly outcome: string;
  readonly kind: string;
  readonly reason?: string | null;
  /** True: a person decides, whom the public receipt does not name. */
  readonly unnamed?: boolean;
}

/** Requests the receipt of a move. */
export async function sealMove(
  trx: Db,
  { caller }: Pick<Context, "caller">,
  { id, receiptId, action, outcome, kind, reason, unnamed = false }: Move,
): Promise<void> {
  await requestSeal(trx, {
    id: receiptId,
    category: "pipeline_item",
    actor: unnamed ? PERSON_ACTOR : `key:${caller.keyId}`,
    subject: id,
    action,
    outcome,
    details: { kind },
    evidence: {
      ...reason ? { reason } : {},
      ...unnamed ? { caller: { key_id: caller.keyId, principal: caller.principal } } : {},
    },
  });
}
