import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../config.ts";

const require = createRequire(import.meta.url);

/** The served files of Swagger UI. */
export const SWAGGER_UI: Readonly<Record<string, { type: string; text: () => string }>> = {
  "swagger-ui.css": { type: "text/css", text: memoize(() => readSwaggerFile("swagger-ui.css")) },
  "swagger-ui-bundle.js": {
    type: "text/javascript",
    text: memoize(() => readSwaggerFile("swagger-ui-bundle.js")),
  },
};

/** Logo that Redoc loads from its makers' server. It is replaced, so that no page loads anything from elsewhere. */
const REDOC_LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";

/** Returns Redoc as one script. The build copies it, as its package is needed for nothing else. */
export const redocBundle: () => string = memoize(() => {
  const path = join(ROOT, "dist", "web", "redoc", "redoc.standalone.js");
  return readFileSync(path, "utf8").replaceAll(REDOC_LOGO, "data:,");
});

function readSwaggerFile(name: string): string {
  return readFileSync(require.resolve(`swagger-ui-dist/${name}`), "utf8");
}

function memoize(read: () => string): () => string {
  let text: string | undefined;
  return () => text ??= read();
}
