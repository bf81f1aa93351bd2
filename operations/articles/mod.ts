/** Articles: write them, follow them, deploy them; and the pipeline of what is to be published. @module */
import { approveItem } from "./approve.ts";
import { articleList, articleStatus } from "./articles.ts";
import { captureItem } from "./capture.ts";
import { deployArticle, generateArticle } from "./generate.ts";
import { pipelineBoard, pipelineItems } from "./pipeline_items.ts";
import { writeSocialPost } from "./social.ts";
import { missionStats } from "./stats.ts";
import { transcriptList } from "./transcripts.ts";

/** Operations of this folder. */
export const articleOperations = [
  articleList,
  articleStatus,
  generateArticle,
  deployArticle,
  pipelineItems,
  pipelineBoard,
  captureItem,
  approveItem,
  writeSocialPost,
  missionStats,
  transcriptList,
];

export { articleSubject, itemSubject } from "./approval.ts";
