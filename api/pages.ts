import { createReadStream } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type Router from "@koa/router";
import type { Context } from "koa";
import type { JsonSchema } from "../contract/mod.ts";
import type { RequestState } from "../web/mod.ts";

const require = createRequire(import.meta.url);
const SWAGGER = dirname(require.resolve("swagger-ui-dist/package.json"));

/** Scripts and styles come from here alone; Swagger UI draws its icons from data addresses. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const FILES: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css",
  "swagger-ui-bundle.js": "text/javascript",
};

/** Serves the description and a page that shows it. Nothing is fetched from elsewhere, and nothing is counted. */
export function bindPages(
  router: Router<RequestState>,
  description: JsonSchema,
  title: string,
): void {
  const text = JSON.stringify(description);
  router.get("openapi", "/openapi.json", (ctx) => {
    ctx.type = "application/json";
    ctx.body = text;
  });
  router.get("docs", "/docs", (ctx) => page(ctx, docs(title)));
  router.get("docs_start", "/docs/start.js", (ctx) => {
    ctx.type = "text/javascript";
    ctx.body = START;
  });
  for (const [name, type] of Object.entries(FILES)) {
    router.get(name, `/docs/${name}`, (ctx) => {
      ctx.type = type;
      ctx.set("cache-control", "public, max-age=86400");
      ctx.body = createReadStream(join(SWAGGER, name));
    });
  }
}

function page(ctx: Context, html: string): void {
  ctx.set("content-security-policy", POLICY);
  ctx.type = "text/html; charset=utf-8";
  ctx.body = html;
}

const docs = (title: string) =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
`;

const START = `SwaggerUIBundle({ url: "/openapi.json", dom_id: "#docs", deepLinking: true });\n`;
