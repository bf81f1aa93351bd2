import { randomBytes } from "node:crypto";
import type Router from "@koa/router";
import type { JsonSchema } from "../../contract/mod.ts";
import { readRedoc, SWAGGER_UI } from "./_bundles.ts";
import type { RequestState } from "./app.ts";

/** Content security policy that allows nothing; each page adds what it needs. */
const NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const SAME_ORIGIN = "script-src 'self'; connect-src 'self'";

/** Swagger UI has icons as `data:` URLs in its style sheet and its markup. */
const SWAGGER_POLICY = `${NOTHING}; ${SAME_ORIGIN}; style-src 'self'; img-src 'self' data:`;

/** Redoc creates styles at run time, so they need a nonce. Its search runs in a worker that its own script makes. */
const redocPolicy = (nonce: string) =>
  `${NOTHING}; ${SAME_ORIGIN}; worker-src blob:; style-src 'nonce-${nonce}'; img-src 'self' data:`;

const ONE_DAY = "public, max-age=86400";

/**
 * Serves the description and two pages that show it: `/docs` to try operations out, `/redoc` to read. They load nothing
 * from elsewhere, and have no rate limit.
 *
 * @param describe called when the description is first asked for, as that takes a while
 */
export function bindPages(
  router: Router<RequestState>,
  describe: () => JsonSchema,
  title: string,
): void {
  const serve = (path: string, type: string, text: () => string, caching = "no-cache") =>
    router.get(path, path, (ctx) => {
      ctx.type = type;
      ctx.set("cache-control", caching);
      ctx.body = text();
    });
  bindDescription(router, "/openapi.json", describe);
  for (const [name, { type, text }] of Object.entries(SWAGGER_UI)) {
    serve(`/docs/${name}`, type, text, ONE_DAY);
  }
  serve("/docs/page.css", "text/css", () => SWAGGER_PAGE_STYLE);
  serve("/docs/start.js", "text/javascript", () => START_SWAGGER_UI);
  serve("/redoc/redoc.standalone.js", "text/javascript", readRedoc, ONE_DAY);
  serve("/redoc/start.js", "text/javascript", () => START_REDOC);
  router.get("docs", "/docs", (ctx) => {
    ctx.set("content-security-policy", SWAGGER_POLICY);
    ctx.type = "text/html; charset=utf-8";
    ctx.body = printSwaggerPage(title);
  });
  router.get("redoc", "/redoc", (ctx) => {
    const nonce = randomBytes(16).toString("base64");
    ctx.set({ "content-security-policy": redocPolicy(nonce), "cache-control": "no-store" });
    ctx.type = "text/html; charset=utf-8";
    ctx.body = printRedocPage(title, nonce);
  });
}

/** Serves a description. @param describe called when it is first asked for */
export function bindDescription(
  router: Router<RequestState>,
  path: string,
  describe: () => JsonSchema,
): void {
  let json: string | undefined;
  router.get(path, path, (ctx) => {
    ctx.type = "application/json";
    ctx.set("cache-control", "no-cache");
    ctx.body = json ??= JSON.stringify(describe());
  });
}

const printPage = (title: string, body: string) =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
${body}
</html>
`;

const printSwaggerPage = (title: string) =>
  printPage(
    title,
    `<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
<nav id="groups" aria-label="Groups"></nav>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>`,
  );

const printRedocPage = (title: string, nonce: string) =>
  printPage(
    title,
    `<style nonce="${nonce}">
body { margin: 0 }
@media (prefers-color-scheme: dark) { body { background: #1c2022 } }
</style>
<div id="redoc"></div>
<script src="/redoc/start.js" nonce="${nonce}"></script>
<script src="/redoc/redoc.standalone.js"></script>`,
  );

const SWAGGER_PAGE_STYLE =
  `#groups { max-width: 1460px; margin: 0 auto; padding: 16px 20px 0; font: 14px sans-serif }
#groups a { display: inline-block; margin: 0 12px 6px 0; color: #3b4151 }
html.dark-mode #groups a { color: #e4e6e6 }
`;

/**
 * Swagger UI draws a closed padlock at operations that take a key but need none, as if a key had been entered. This
 * removes it; a key that was entered is sent all the same.
 *
 * Its filter looks at the names of groups alone; this one looks at all words of groups and operations. As it draws only
 * what is in sight, the groups are listed above it, where the browser's own search finds them.
 */
const START_SWAGGER_UI = `const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
followScheme();
dark.addEventListener("change", followScheme);

const drawPadlocksWhereNeeded = (Summary, { React }) => (props) => {
  const operation = props.operationProps;
  const security = operation.get("security");
  const needsNone = security && security.some((way) => way.isEmpty());
  return React.createElement(Summary, {
    ...props,
    operationProps: needsNone ? operation.delete("security") : operation,
  });
};
const opsFilter = (groups, phrase) => {
  const words = phrase.toLowerCase().split(/\\s+/).filter(Boolean);
  const fits = (parts) => words.every((word) => parts.join(" ").toLowerCase().includes(word));
  return groups.map((group, name) => {
    const about = [name, group.getIn(["tagDetails", "description"]) ?? ""];
    const hasWords = (one) =>
      fits([
        ...about,
        one.get("method"),
        one.get("path"),
        one.getIn(["operation", "operationId"]),
        one.getIn(["operation", "summary"]),
      ]);
    return group.update("operations", (all) => all.filter(hasWords));
  }).filter((group) => group.get("operations").size > 0);
};
const ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  filter: true,
  plugins: [() => ({
    fn: { opsFilter },
    wrapComponents: { OperationSummary: drawPadlocksWhereNeeded },
  })],
  onComplete() {
    for (const { name, description } of ui.specSelectors.specJson().get("tags").toJS()) {
      const link = document.createElement("a");
      link.href = "#/" + name;
      link.textContent = name;
      link.title = description;
      link.addEventListener("click", () => setTimeout(() => location.reload()));
      document.getElementById("groups").append(link);
    }
  },
});
`;

/**
 * Runs before Redoc, which creates some styles while it loads: gives all of them the nonce. The theme follows the scheme
 * that the reader prefers.
 */
const START_REDOC = `const { nonce } = document.currentScript;
const create = document.createElement.bind(document);
document.createElement = (name, ...rest) => {
  const element = create(name, ...rest);
  if (name === "style") element.nonce = nonce;
  return element;
};
const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => location.reload());
const DARK = {
  colors: {
    primary: { main: "#8ab4ff" },
    success: { main: "#7fd18b" },
    text: { primary: "#e4e6e6", secondary: "#b7bcbf" },
    border: { dark: "#444a50", light: "#2c3136" },
    responses: {
      success: { color: "#7fd18b", backgroundColor: "#15251a" },
      error: { color: "#ff9c9c", backgroundColor: "#2b1717" },
      redirect: { color: "#ffd479", backgroundColor: "#2b2413" },
      info: { color: "#8ab4ff", backgroundColor: "#16202e" },
    },
  },
  schema: { nestedBackground: "#16191c", linesColor: "#5b6b80", typeNameColor: "#b7bcbf" },
  typography: { code: { color: "#ffb3a8", backgroundColor: "#16191c" }, links: { color: "#8ab4ff" } },
  sidebar: { backgroundColor: "#16191c", textColor: "#e4e6e6" },
  rightPanel: { backgroundColor: "#0f1113" },
};
addEventListener("DOMContentLoaded", () =>
  Redoc.init(
    "/openapi.json",
    { hideDownloadButton: true, ...(dark.matches ? { theme: DARK } : {}) },
    document.getElementById("redoc"),
  ));
`;
