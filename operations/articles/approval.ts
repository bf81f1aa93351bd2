import type { ApprovalSubject, Platform } from "../../calls/mod.ts";
import { getArticle, getPipelineItem } from "../../store/articles/mod.ts";

/** An article that people read before it is published. */
export const articleSubject: ApprovalSubject<Platform> = {
  ids: /^ART-[0-9a-f]{12}$/,
  async end(db, id) {
    const article = await getArticle(db, id);
    return article?.state === "review" ? undefined : article?.state;
  },
};

/** An item of the pipeline that people look at before it is published. */
export const itemSubject: ApprovalSubject<Platform> = {
  ids: /^ITEM-[0-9a-f]{12}$/,
  async end(db, id) {
    const item = await getPipelineItem(db, id);
    return item?.stage === "review" ? undefined : item?.stage;
  },
};
