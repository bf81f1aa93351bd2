import { join } from "node:path";
import { Problem } from "../../contract/mod.ts";
import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import {
  deployFolder,
  type GitTarget,
  readSiteFile,
  renderSite,
} from "../../operations/articles/writing/mod.ts";
import { openMediaFiles } from "../../integrations/media/mod.ts";
import type { Db } from "../../store/mod.ts";
import { type ArticleRecord, listSitePages } from "../../store/articles/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { siteOf } from "./_article.ts";

/** Pages that a site has at most. */
export const MAX_PAGES = 5_000;

/** Returns the folder in which the sites of all tenants are. */
export function folderOf({ config: { settings, dataDir } }: Pick<ActivityParts, "config">): string {
  return settings.SEALOOP_ARTICLES_DIR ?? join(dataDir, "articles");
}

/** Returns the branch to which the operator's site is committed. @throws {Problem} `NotConfigured` */
export function gitOf({ config, store }: Pick<ActivityParts, "config" | "store">): GitTarget {
  if (store.tenant !== PLATFORM_TENANT) {
    throw new Problem("NotConfigured", "Cannot deploy to git: the branch is the operator's own");
  }
  const repository = config.settings.SEALOOP_ARTICLES_GIT;
  if (repository === undefined) {
    throw new Problem("NotConfigured", "Cannot deploy to git: set SEALOOP_ARTICLES_GIT");
  }
  const { inFolder } = openMediaFiles(config); // swept where this process is killed
  return { repository, branch: config.settings.SEALOOP_ARTICLES_GIT_BRANCH, inFolder };
}

/**
 * Takes an article off the site in the folder, where it is there and not recorded as published. The site is locked, and so
 * is the article.
 */
export async function takeOffSite(
  trx: Db,
  parts: ActivityParts,
  { id, slug, publishedAt, deploy }: ArticleRecord,
): Promise<void> {
  if (publishedAt !== null || deploy?.target !== "folder") return;
  const [folder, { tenant }] = [folderOf(parts), parts.store];
  if (!await readSiteFile(folder, tenant, `${slug}/index.html`)) return;
  const pages = await listSitePages(trx, { target: "folder", exceptId: id, limit: MAX_PAGES });
  const files = renderSite(pages, siteOf(parts));
  const { signal } = new AbortController(); // it is not given up halfway
  await deployFolder(folder, tenant, files, () => Promise.resolve(), signal);
}
