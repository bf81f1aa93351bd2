/**
 * Articles, films, speech and transcripts, and the pipeline of items that are to be published.
 *
 * ```ts
 * const article = await lockArticle(trx, id);
 * await moveArticle(trx, id, ["writing"], { state: "review" });
 * ```
 * @module
 */
export {
  getCategoryFigures,
  getPassage,
  getPeriodFigures,
  listPrivateNames,
  type PeriodFigures,
} from "./article_sources.ts";
export {
  addArticle,
  type ArticleDeploy,
  type ArticleRecord,
  countArticles,
  dropArticle,
  getArticle,
  isSlugTaken,
  listErasedPages,
  listLiveArticles,
  listPublishedArticles,
  listSitePages,
  lockArticle,
  lockSite,
  moveArticle,
  noteArticleStep,
  noteErasedPageGone,
  setArticleChecks,
  setArticlePage,
  setArticleText,
} from "./articles.ts";
export {
  addPipelineItem,
  countPipelineItems,
  getMadeMedia,
  getPipelineItem,
  isMediaSource,
  listPipelineItems,
  lockPipelineItem,
  lockPostText,
  type MediaSource,
  movePipelineItem,
  type NewPipelineItem,
  PIPELINE_KINDS,
  type PipelineItem,
  type PipelineMove,
  type Publishing,
  setItemApproval,
  setItemUrl,
} from "./pipeline.ts";
