import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../../config.ts";

const require = createRequire(join(ROOT, "package.json"));

/** The files of Swagger UI that pages load. */
export const SWAGGER_UI: Readonly<Record<string, { type: string; text: () => string }>> = {
  "swagger-ui.css": { type: "text/css", text: memoize(() => readSwaggerFile("swagger-ui.css")) },
  "swagger-ui-bundle.js": {
    type: "text/javascript",
    text: memoize(() => readSwaggerFile("swagger-ui-bundle.js")),
  },
};

/** Logo that Redoc loads from its vendor's server. It is replaced, as no page may load anything from elsewhere. */
const REDOC_LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";

/** Reads Redoc as one script. The build copies it, as the package is needed for nothing else. */
export const readRedoc: () => string = memoize(() => {
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
