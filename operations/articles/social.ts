import { z } from "zod";
import { type PostSource, readAdvice, writePost } from "./writing/mod.ts";
import { type Context, operation } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import { InvalidInput, Problem } from "../../contract/mod.ts";
import { ANONYMOUS_ACTOR } from "../../contract/domain/mod.ts";
import { randomHex, requestSeal } from "../../ledger/mod.ts";
import { getArticle, getPassage } from "../../store/articles/mod.ts";
import { oneLine, Sha256 } from "../schemas/mod.ts";
import { drawCard } from "./_card.ts";
import { Network } from "./_item.ts";
import { ArticleId } from "./_schemas.ts";
import { addMediaFile, publishMediaFile } from "../../store/media/mod.ts";

/** Writes a post. */
export const writeSocialPost = operation({
  name: "social.content",
  group: "missions",
  summary: "Write a post for a social network, from a topic or a published article",
  description:
    "Rules write it from the article, or from what the knowledge base has about the topic; whole sentences, within what the " +
    "network allows. Nothing is posted. Its picture is a card with the title, which anybody may read and `alt_text` describes, and " +
    "whose C2PA manifest names the receipt; " +
    "`image_url` and `image_sha256` are null where none could be drawn. It has limits of its own, of each address and of all " +
    "together.",
  effect: "run",
  access: "public",
  input: z.object({
    topic: oneLine(3, 200).optional().describe("What it is about; either this or `article_id`"),
    article_id: ArticleId.optional(),
    platform: Network,
    link: z.url({ protocol: /^https?$/, error: "Expected an http or https address" }).max(200)
      .optional()
      .describe("Default: that of the article"),
  }),
  output: z.object({
    post_id: z.string(),
    text: z.string(),
    length: z.number().int().describe("As the network counts"),
    limit: z.number().int(),
    alt_text: z.string(),
    image_url: z.url().nullable().describe(
      "PNG, 1200 × 630, there for two weeks; null: none could be drawn now",
    ),
    image_sha256: Sha256.nullable().describe("Its receipt has it as `file_sha256`"),
    written_by: z.string().describe("rules, or the model"),
    receipt_id: z.string(),
  }),
  rest: { social_content: "POST /api/social/content" },
  presentation: {
    hints: { destructive: false },
    untrusted: true,
    errors: ["NotFound", "Unavailable"],
  },
  governance: { rule: "key-decides", limits: { perDay: "posts" } },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: { topic: "Too many clients in PostgreSQL", platform: "mastodon" },
    output: {
      post_id: "POST-5b1e09c77a42",
      text:
        "Too many clients: no more connections\n\nSessions idle in transaction or long queries hold connections that never return.",
      length: 119,
      limit: 500,
      alt_text: "A card with the title: Too many clients: no more connections",
      image_url:
        "http://127.0.0.1:8080/media/3b5d5c3712955042212316173ccf37be8001abc4a4c2a4a5f7ea5d8a3c8d2f10/card.png",
      image_sha256: "3b5d5c3712955042212316173ccf37be8001abc4a4c2a4a5f7ea5d8a3c8d2f10",
      written_by: "rules",
      receipt_id: "4f1d22a90b7c4f1d",
    },
  },
  async run({ topic, article_id, platform, link }, context) {
    const source = await readSource(topic, article_id, context);
    const post = writePost(platform, { ...source, link: link ?? source.link });
    const { caller, decisionId } = context;
    const post_id = `POST-${idOfCall(decisionId, 12)}`;
    const receipt_id = randomHex(16);
    const image = await drawCard({ ...source, receiptId: receipt_id }, context);
    return await context.commit(async (trx) => {
      if (image) {
        await addMediaFile(trx, image);
        await publishMediaFile(trx, image.sha256);
      }
      await requestSeal(trx, {
        id: receipt_id,
        category: "post_written",
        actor: caller.keyId === null ? ANONYMOUS_ACTOR : `key:${caller.keyId}`,
        subject: post_id,
        action: "social.content",
        outcome: "written",
        details: {
          platform,
          length: post.length,
          ...article_id ? { article_id } : {},
          ...image ? { file_sha256: image.sha256 } : {},
        },
        evidence: { text: post.text },
      });
      return {
        post_id,
        ...post,
        image_url: image && `${context.urls.gateway}/media/${image.sha256}/card.png`,
        image_sha256: image && image.sha256,
        written_by: "rules",
        receipt_id,
      };
    });
  },
});

/** @throws {Problem} `NotFound`: there is nothing to write from */
async function readSource(
  topic: string | undefined,
  articleId: string | undefined,
  { store, engine }: Context,
): Promise<PostSource> {
  if ((topic === undefined) === (articleId === undefined)) {
    throw new InvalidInput([{
      path: ["topic"],
      msg: "Expected either topic or article_id",
      type: "one_of",
    }]);
  }
  if (articleId !== undefined) {
    const article = await getArticle(store.db, articleId);
    if (!article?.publishedAt) {
      throw new Problem("NotFound", `There is no published article ${articleId}`);
    }
    const { title, description, content, deploy } = article;
    const [lead] = content!.sections;
    const sentences = lead!.blocks.flatMap((block) => block.sentences.map(({ text }) => text));
    return {
      title: title!,
      sentences: [...sentences, description!],
      link: deploy!.url,
      incident: content!.incident,
    };
  }
  const { passages } = await engine.search(topic!, store.tenant);
  for (const { id } of passages) {
    const passage = await getPassage(store.db, id);
    if (passage?.kind !== "article") continue;
    return { title: passage.title, sentences: readAdvice(passage) };
  }
  throw new Problem(
    "NotFound",
    `The knowledge base has nothing about “${topic}”; name a symptom or a technology`,
  );
}
