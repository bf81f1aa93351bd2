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

/** Redoc creates styles at run time, so they need a nonce. */
const redocPolicy = (nonce: string) =>
  `${NOTHING}; ${SAME_ORIGIN}; style-src 'nonce-${nonce}'; img-src 'self' data:`;

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
<title>${title}</title>
<link rel="icon" href="data:,">
${body}
</html>
`;

const printSwaggerPage = (title: string) =>
  printPage(
    title,
    `<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>`,
  );

const printRedocPage = (title: string, nonce: string) =>
  printPage(
    title,
    `<style nonce="${nonce}">body { margin: 0 }</style>
<div id="redoc"></div>
<script src="/redoc/start.js" nonce="${nonce}"></script>
<script src="/redoc/redoc.standalone.js"></script>`,
  );

/**
 * Swagger UI draws a closed padlock at operations that take a key but need none, as if a key had been entered. This
 * removes it; a key that was entered is sent all the same.
 */
const START_SWAGGER_UI = `const drawPadlocksWhereNeeded = (Summary, { React }) => (props) => {
  const operation = props.operationProps;
  const security = operation.get("security");
  const needsNone = security && security.some((way) => way.isEmpty());
  return React.createElement(Summary, {
    ...props,
    operationProps: needsNone ? operation.delete("security") : operation,
  });
};
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  plugins: [() => ({ wrapComponents: { OperationSummary: drawPadlocksWhereNeeded } })],
});
`;

/**
 * Runs before Redoc, which creates some styles while it loads: gives all of them the nonce. Redoc's search would run in a
 * worker from a blob, which the policy refuses; the browser's own search finds everything on the page.
 */
const START_REDOC = `const { nonce } = document.currentScript;
const create = document.createElement.bind(document);
document.createElement = (name, ...rest) => {
  const element = create(name, ...rest);
  if (name === "style") element.nonce = nonce;
  return element;
};
addEventListener("DOMContentLoaded", () =>
  Redoc.init(
    "/openapi.json",
    { disableSearch: true, hideDownloadButton: true },
    document.getElementById("redoc"),
  ));
`;
