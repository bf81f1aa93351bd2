import { z } from "zod";
import { ACT_STATES, DEPLOY_TARGETS } from "../../contract/domain/mod.ts";
import {
  AnswerDraftSchema,
  argumentsOf,
  ArticleAuthorshipSchema,
  ArticleId,
  ArticleOrderSchema,
  ItemId,
  MediaOrderSchema,
  PublishOrderSchema,
  RunIdSchema,
  SceneOrderSchema,
  SealedId,
  Word,
} from "../../contract/domain/schemas/mod.ts";
import {
  ArticleRunOrderSchema,
  DeployRunOrderSchema,
  FailedMediaSchema,
  ItemRunOrderSchema,
} from "./_orders.ts";

/** Schemas of the arguments of activities: publishing. */
export const PUBLISHING_ARGUMENTS = {
  failMediaRequest: argumentsOf(FailedMediaSchema),
  makeVideoScene: argumentsOf(SceneOrderSchema),
  finishFilm: argumentsOf(MediaOrderSchema),
  makeTranscript: argumentsOf(MediaOrderSchema),
  makeSpeech: argumentsOf(MediaOrderSchema),
  publishFiles: argumentsOf(ItemRunOrderSchema),
  noteAddress: argumentsOf(z.object({ item_id: ItemId, post_id: Word })),
  takeOverPost: argumentsOf(
    ItemRunOrderSchema,
    z.object({ state: z.enum(ACT_STATES), code: Word }),
  ),
  stopItem: argumentsOf(ItemRunOrderSchema),
  askAboutItem: argumentsOf(PublishOrderSchema),
  decideItem: argumentsOf(ItemRunOrderSchema),
  intendDeploy: argumentsOf(DeployRunOrderSchema),
  deployArticle: argumentsOf(DeployRunOrderSchema),
  proveDeploy: argumentsOf(DeployRunOrderSchema),
  sealDeploy: argumentsOf(
    z.object({
      target: z.enum(DEPLOY_TARGETS),
      run: RunIdSchema,
      article_id: ArticleId,
      state: z.enum(ACT_STATES),
      code: Word,
    }),
    SealedId.optional(),
  ),
  sealArticle: argumentsOf(ArticleRunOrderSchema),
  stopArticle: argumentsOf(ArticleRunOrderSchema),
  askAboutArticle: argumentsOf(ArticleRunOrderSchema),
  decideArticle: argumentsOf(ArticleRunOrderSchema),
  writeArticle: argumentsOf(ArticleOrderSchema),
  rephraseArticle: argumentsOf(
    z.object({
      article_id: ArticleId,
      told: AnswerDraftSchema.nullable(),
      authorship: ArticleAuthorshipSchema,
    }),
  ),
  redactArticle: argumentsOf(ArticleOrderSchema),
  reviewArticle: argumentsOf(ArticleOrderSchema),
};
