/** The HTML of articles: one page each, without scripts, and with its style inside. */
import { hash } from "node:crypto";
import type { ArticleAuthorship, ArticleBlock, ArticleText } from "../../../contract/domain/mod.ts";
import { planTimeline } from "../../../ledger/stories/mod.ts";
import { STYLE } from "./_style.ts";
import { formatDay } from "./_words.ts";

/** Parts of a page besides the article's text. */
export interface PageContext {
  /** Address of the site, without a slash at the end. */
  readonly siteUrl: string;
  readonly siteName: string;
  readonly ledgerUrl: string;
  readonly slug: string;
  /** Receipt that seals the page's hash when it is published. */
  readonly receiptId: string;
  readonly authorship: ArticleAuthorship;
  /** ISO 8601. */
  readonly writtenAt: string;
}

/** Returns the public address of an article. */
export function articleUrl(siteUrl: string, slug: string): string {
  return `${siteUrl}/${slug}/`;
}

/** Returns the policy under which pages of the site are served. */
export const ARTICLE_POLICY = `default-src 'none'; style-src 'sha256-${
  hash("sha256", STYLE, "base64")
}'; img-src 'self' data:; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Makes the page of an article. The same article gives the same bytes. */
export function renderArticle(text: ArticleText, context: PageContext): string {
  const { siteUrl, siteName, ledgerUrl, slug, receiptId, authorship, writtenAt } = context;
  const url = articleUrl(siteUrl, slug);
  const words = countWords(text);
  const receipt = `${ledgerUrl}/receipt/${encodeURIComponent(receiptId)}`;
  const structured = {
    "@context": "https://schema.org",
    "@type": "TechArticle",
    headline: text.title,
    description: text.description,
    inLanguage: "en",
    datePublished: writtenAt,
    dateModified: writtenAt,
    wordCount: words,
    mainEntityOfPage: url,
    author: { "@type": "Organization", name: siteName },
    publisher: { "@type": "Organization", name: siteName },
    identifier: receipt,
  };
  const body = text.sections.map(({ heading, blocks }) =>
    `${heading === null ? "" : `<h2>${escapeHtml(heading)}</h2>\n`}${
      blocks.map(renderBlock).join("\n")
    }`
  );
  const by = authorship.written_by === "rules"
    ? "Written by rules from the records of the platform."
    : `The story was phrased by ${
      escapeHtml(authorship.written_by)
    }; each sentence was checked against the records.`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(text.title)}</title>
<meta name="description" content="${escapeHtml(text.description)}">
<link rel="canonical" href="${escapeHtml(url)}">
<meta name="sealoop-receipt" content="${escapeHtml(receiptId)}">
<meta property="og:type" content="article">
<meta property="og:title" content="${escapeHtml(text.title)}">
<meta property="og:description" content="${escapeHtml(text.description)}">
<meta property="og:url" content="${escapeHtml(url)}">
<link rel="icon" href="data:,">
<link rel="alternate" type="application/atom+xml" title="${
    escapeHtml(siteName)
  }" href="../atom.xml">
<script type="application/ld+json">${JSON.stringify(structured).replaceAll("<", "\\u003c")}</script>
<style>${STYLE}</style>
</head>
<body>
<header><a href="../">${escapeHtml(siteName)}</a></header>
<main>
<article>
<h1>${escapeHtml(text.title)}</h1>
<p class="about">${formatDay(writtenAt)} · ${readingTime(words)}</p>
${renderPicture(text, ledgerUrl)}${body.join("\n")}
${renderProof(text, ledgerUrl, receiptId)}
</article>
</main>
<footer><p>${by}</p></footer>
</body>
</html>
`;
}

/** Draws what took how long, with the receipt that says so. */
function renderPicture({ incident }: ArticleText, ledgerUrl: string): string {
  const plan = incident && planTimeline(incident.timeline);
  if (!plan) return "";
  const rows = plan.lines.map(({ name, from, share, took }) =>
    `<tr><th scope="row">${name}</th><td><svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">` +
    `<rect class="line" width="1000" height="10"/><rect class="step" x="${
      Math.min(996, Math.round(from * 1000))
    }" width="${
      Math.max(4, Math.round(share * 1000))
    }" height="10"/></svg></td><td>${took}</td></tr>`
  );
  const url = `${ledgerUrl}/receipt/${encodeURIComponent(incident.receipt_id)}`;
  return `<figure class="timeline">
<table>
<caption>What took how long, ${plan.took} in all</caption>
<tbody>
${rows.join("\n")}
</tbody>
</table>
<figcaption>Sealed in receipt <a href="${escapeHtml(url)}"><code>${
    escapeHtml(incident.receipt_id)
  }</code></a></figcaption>
</figure>
`;
}

function renderProof({ receipts }: ArticleText, ledgerUrl: string, receiptId: string): string {
  const link = (id: string, what: string) =>
    `<li><a href="${escapeHtml(`${ledgerUrl}/receipt/${encodeURIComponent(id)}`)}"><code>${
      escapeHtml(id)
    }</code></a> ${escapeHtml(what)}</li>`;
  return `<section class="proof">
<h2>Check it</h2>
<p>What is told here is sealed in a public, signed ledger. The receipt of this page has its SHA-256, so that a copy of the file can be checked by dropping it on the ledger’s page.</p>
<ul>
${[link(receiptId, "this page"), ...receipts.map(({ id, what }) => link(id, what))].join("\n")}
</ul>
</section>`;
}

function renderBlock({ kind, sentences }: ArticleBlock): string {
  if (kind === "paragraph") return `<p>${sentences.map(({ text }) => inline(text)).join(" ")}</p>`;
  const tag = kind === "steps" ? "ol" : "ul";
  return `<${tag}>\n${
    sentences.map(({ text }) => `<li>${inline(text)}</li>`).join("\n")
  }\n</${tag}>`;
}

/** Returns plain text as HTML, with code between backticks. */
function inline(text: string): string {
  return text.split("`").map((part, n) =>
    n % 2 === 1 ? `<code>${escapeHtml(part)}</code>` : escapeHtml(part)
  ).join("");
}

/** Returns all words of an article, headings included. */
export function countWords(text: ArticleText): number {
  return articleWords(text).length;
}

/** Returns the words of an article. */
export function articleWords({ title, sections }: ArticleText): string[] {
  const parts = sections.flatMap(({ heading, blocks }) => [
    heading ?? "",
    ...blocks.flatMap(({ sentences }) => sentences.map((one) => one.text)),
  ]);
  return [title, ...parts].join(" ").split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
}

const readingTime = (words: number) => {
  const minutes = Math.max(1, Math.round(words / 220));
  return `${minutes} ${minutes === 1 ? "minute" : "minutes"} to read`;
};

/** Escapes text for HTML and XML. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Returns an article as Markdown, for the people who approve it. */
export function toMarkdown({ title, description, sections, incident }: ArticleText): string {
  const plan = incident && planTimeline(incident.timeline);
  const blocks = ({ kind, sentences }: ArticleBlock) =>
    kind === "paragraph"
      ? sentences.map(({ text }) => text).join(" ")
      : sentences.map(({ text }, n) => `${kind === "steps" ? `${n + 1}.` : "-"} ${text}`).join(
        "\n",
      );
  return [
    `# ${title}`,
    `*${description}*`,
    ...plan ? [`Picture: ${plan.says} (receipt ${incident.receipt_id}).`] : [],
    ...sections.flatMap((one) => [
      ...one.heading === null ? [] : [`## ${one.heading}`],
      ...one.blocks.map(blocks),
    ]),
  ].join("\n\n") + "\n";
}

/** Returns a slug: lower-case words with hyphens, at most 60 characters. */
export function slugOf(title: string): string {
  const words = title.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const cut = words.length <= 60 ? words : words.slice(0, words.lastIndexOf("-", 60));
  return cut.replace(/^-+|-+$/g, "") || "article";
}
