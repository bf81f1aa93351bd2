import { join } from "node:path";
import type Router from "@koa/router";
import type { Platform } from "../calls/mod.ts";
import { PLATFORM_TENANT } from "../contract/domain/mod.ts";
import { ARTICLE_POLICY, readSiteFile } from "../operations/articles/writing/mod.ts";
import type { RequestState } from "../runtime/web/mod.ts";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  xml: "application/xml; charset=utf-8",
};

/** Serves the sites of articles: that of the platform at `/articles/`, those of other tenants at `/articles/~<tenant>/`. */
export function bindArticles(
  router: Router<RequestState>,
  { config: { settings, dataDir } }: Pick<Platform, "config">,
): void {
  const folder = settings.SEALOOP_ARTICLES_DIR ?? join(dataDir, "articles");
  router.get("articles", /^\/articles(?<path>\/.*)?$/, async (ctx) => {
    const path = ctx.path.slice("/articles".length);
    if (path === "") return ctx.redirect("/articles/");
    const { tenant, file } = placeOf(path.slice(1));
    const text = await readSiteFile(folder, tenant, file);
    ctx.status = text ? 200 : 404;
    ctx.type = TYPES[text ? file.split(".").at(-1)! : "html"] ?? "application/octet-stream";
    ctx.set({ "content-security-policy": ARTICLE_POLICY, "cache-control": "public, max-age=60" });
    ctx.body = text ?? NOT_FOUND;
  });
}

const NOT_FOUND = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Not found</title>
<h1>Not found</h1>
<p>There is no such page. <a href="/articles/">All articles</a></p>
</html>
`;

/** Returns the tenant and the file that a path below `/articles/` names. */
function placeOf(path: string): { readonly tenant: string; readonly file: string } {
  const [, other, rest] = /^~([^/]+)\/(.*)$/.exec(path) ?? [];
  const file = other === undefined ? path : rest!;
  return {
    tenant: other ?? PLATFORM_TENANT,
    file: file === "" || file.endsWith("/") ? `${file}index.html` : file,
  };
}
