import { z } from "zod";
import { DEPLOY_TARGETS } from "../mod.ts";
import { ArticleId, ItemId, Name, Text } from "./ids.ts";

/** Schema of the type `PublishOrder`. */
export const PublishOrderSchema = z.object({ item_id: ItemId });

/** Schema of the type `ArticleOrder`. */
export const ArticleOrderSchema = z.object({ article_id: ArticleId });

/** Schema of the type `ArticleAuthorship`. */
export const ArticleAuthorshipSchema = z.object({
  written_by: Name,
  provider: Name,
  dropped: z.array(Text),
  fallback: Text.nullable(),
});

/** Schema of the type `ArticleDeployOrder`. */
export const ArticleDeployOrderSchema = z.object({
  target: z.enum(DEPLOY_TARGETS),
  article_id: ArticleId,
});
