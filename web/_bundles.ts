import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);

/** What of Swagger UI is served. */
export const SWAGGER_UI: Readonly<Record<string, { type: string; text: () => string }>> = {
  "swagger-ui.css": { type: "text/css", text: once(() => swagger("swagger-ui.css")) },
  "swagger-ui-bundle.js": {
    type: "text/javascript",
    text: once(() => swagger("swagger-ui-bundle.js")),
  },
};

/** Redoc shows a mark of its makers, from their server. Told of nothing there, it shows none. */
const REDOC_MARK = "https://cdn.redoc.ly/redoc/logo-mini.svg";

/** Redoc as one script, which asks nobody else for anything: the copy beside the compiled form, else the package's. */
export const redocBundle: () => string = once(() => {
  const beside = join(dirname(fileURLToPath(import.meta.url)), "redoc", "redoc.standalone.js");
  const path = existsSync(beside) ? beside : require.resolve("redoc/bundles/redoc.standalone.js");
  return readFileSync(path, "utf8").replaceAll(REDOC_MARK, "data:,");
});

function swagger(name: string): string {
  return readFileSync(require.resolve(`swagger-ui-dist/${name}`), "utf8");
}

function once(read: () => string): () => string {
  let text: string | undefined;
  return () => text ??= read();
}
