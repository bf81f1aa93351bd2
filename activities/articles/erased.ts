/** Articles that named somebody who was erased: nobody has approved them without these words, so they leave the site. */
import {
  deployFolder,
  deployGit,
  readGitFile,
  readSiteFile,
  removeOldReleases,
  renderSite,
} from "../../operations/articles/writing/mod.ts";
import { createTimeoutSignal } from "../../contract/mod.ts";
import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { randomHex, requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  listErasedPages,
  listSitePages,
  lockSite,
  noteErasedPageGone,
} from "../../store/articles/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { siteOf } from "./_article.ts";
import { folderOf, gitOf, MAX_PAGES } from "./_site.ts";

const TIMEOUT_MS = 60_000;

/**
 * Deploys the site of a tenant without the articles that named somebody who was erased, removes its older deployments, and
 * seals that. Safe to repeat: they are noted once they are gone.
 *
 * @returns how many
 */
export async function removeErasedArticles(parts: ActivityParts): Promise<number> {
  const { store: { db, tenant }, config: { settings } } = parts;
  const hasGit = tenant === PLATFORM_TENANT && settings.SEALOOP_ARTICLES_GIT !== undefined;
  if ((await listErasedPages(db)).length === 0) return 0;
  return await db.transaction(async (trx) => {
    await lockSite(trx);
    const signal = createTimeoutSignal(TIMEOUT_MS);
    const confirm = () => Promise.resolve(signal.throwIfAborted());
    const ids = await listErasedPages(trx);
    const folder = folderOf(parts);
    if (await readSiteFile(folder, tenant, "index.html")) {
      await deployFolder(folder, tenant, await render(trx, "folder"), confirm, signal);
      await removeOldReleases(folder, tenant);
    }
    if (hasGit && await readGitFile(gitOf(parts), "index.html")) {
      await deployGit(gitOf(parts), await render(trx, "git"), "Remove articles", confirm, signal);
    }
    for (const id of ids) await sealRemoval(trx, id);
    return ids.length;
  });

  async function render(trx: Db, target: "folder" | "git"): Promise<ReadonlyMap<string, string>> {
    const pages = await listSitePages(trx, { target, exceptId: "", limit: MAX_PAGES });
    return renderSite(pages, siteOf(parts));
  }
}

async function sealRemoval(trx: Db, id: string): Promise<void> {
  const receiptId = randomHex(16);
  await noteErasedPageGone(trx, id, receiptId);
  await requestSeal(trx, {
    id: receiptId,
    category: "article_ended",
    actor: "articles",
    subject: id,
    action: "articles.erase",
    outcome: "removed",
  });
}
