/** The files of a site: its pages, a list of them, a feed and a sitemap. */
import { type DeployTarget, PLATFORM_TENANT } from "../../../contract/domain/mod.ts";
import { STYLE } from "./_style.ts";
import { formatDay } from "./_words.ts";
import { articleUrl, escapeHtml } from "./page.ts";

/** A page of the site. */
export interface SitePage {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  /** HTML. */
  readonly page: string;
  /** ISO 8601. */
  readonly publishedAt: string;
}

/** Returns where readers get the articles of a tenant: the branch in git is the operator's own. */
export function siteTarget(
  tenant: string,
  settings: { readonly SEALOOP_ARTICLES_SITE: DeployTarget },
): DeployTarget {
  return tenant === PLATFORM_TENANT ? settings.SEALOOP_ARTICLES_SITE : "folder";
}

/** Makes all files of a site, by their paths. @param pages newest first */
export function renderSite(
  pages: readonly SitePage[],
  { siteUrl, siteName }: { readonly siteUrl: string; readonly siteName: string },
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { slug, page } of pages) files.set(`${slug}/index.html`, page);
  files.set("index.html", renderIndex(pages, siteUrl, siteName));
  files.set("atom.xml", renderFeed(pages, siteUrl, siteName));
  files.set("sitemap.xml", renderSitemap(pages, siteUrl));
  return files;
}

function renderIndex(pages: readonly SitePage[], siteUrl: string, siteName: string): string {
  const items = pages.map(({ slug, title, description, publishedAt }) =>
    `<li>
<h2><a href="${escapeHtml(slug)}/">${escapeHtml(title)}</a></h2>
<p>${escapeHtml(description)}</p>
<p class="about"><time datetime="${publishedAt}">${formatDay(publishedAt)}</time></p>
</li>`
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(siteName)}</title>
<meta name="description" content="Incidents, what caused them and what mended them, each with its proof.">
<link rel="canonical" href="${escapeHtml(siteUrl)}/">
<link rel="icon" href="data:,">
<link rel="alternate" type="application/atom+xml" title="${escapeHtml(siteName)}" href="atom.xml">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(siteName)}</h1>
<p class="about">Incidents, what caused them and what mended them, each with its proof.</p>
<ul class="list">
${items.join("\n")}
</ul>
</main>
<footer><p><a href="atom.xml">Feed</a></p></footer>
</body>
</html>
`;
}

/** @see RFC 4287 */
function renderFeed(pages: readonly SitePage[], siteUrl: string, siteName: string): string {
  const updated = pages[0]?.publishedAt ?? "1970-01-01T00:00:00.000Z";
  const feed = [
    `<id>${escapeHtml(siteUrl)}/</id>`,
    `<title>${escapeHtml(siteName)}</title>`,
    `<updated>${updated}</updated>`,
    `<author><name>${escapeHtml(siteName)}</name></author>`,
    `<link rel="self" href="${escapeHtml(siteUrl)}/atom.xml"/>`,
    `<link rel="alternate" type="text/html" href="${escapeHtml(siteUrl)}/"/>`,
    ...pages.slice(0, 50).map(({ slug, title, description, publishedAt }) => {
      const url = escapeHtml(articleUrl(siteUrl, slug));
      return `<entry>
<id>${url}</id>
<title>${escapeHtml(title)}</title>
<updated>${publishedAt}</updated>
<published>${publishedAt}</published>
<link rel="alternate" type="text/html" href="${url}"/>
<summary>${escapeHtml(description)}</summary>
</entry>`;
    }),
  ];
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
${feed.join("\n")}
</feed>
`;
}

/** @see sitemaps.org */
function renderSitemap(pages: readonly SitePage[], siteUrl: string): string {
  const entry = (url: string, at?: string) =>
    `<url><loc>${escapeHtml(url)}</loc>${at ? `<lastmod>${at}</lastmod>` : ""}</url>`;
  return `<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${
    [
      entry(`${siteUrl}/`, pages[0]?.publishedAt),
      ...pages.map(({ slug, publishedAt }) => entry(articleUrl(siteUrl, slug), publishedAt)),
    ].join("\n")
  }
</urlset>
`;
}
