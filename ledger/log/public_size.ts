import type { Store } from "../../store/mod.ts";
import { getHead } from "../receipts/mod.ts";
import { getPublishingState } from "./publishing.ts";
import { getPublishedCheckpoint } from "./stored_log.ts";

/**
 * Returns the number of receipts that the log may tell strangers of: all, or with a quorum of witnesses those that a
 * published checkpoint covers. A log that a failover has put back thus contradicts nothing that it has told.
 */
export async function getPublicSize(store: Store): Promise<number> {
  const [{ size }, publishing, checkpoint] = await Promise.all([
    getHead(store),
    getPublishingState(store),
    getPublishedCheckpoint(store),
  ]);
  return publishing && publishing.quorum > 0 ? Math.min(size, checkpoint?.size ?? 0) : size;
}
