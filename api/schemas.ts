import type Router from "@koa/router";
import type { JsonSchema } from "../contract/mod.ts";
import type { RequestState } from "../web/mod.ts";

/** Serves the schemas of files that users write at `/schemas/<name>.json`, where editors fetch them. Not counted. */
export function bindSchemas(
  router: Router<RequestState>,
  schemas: Readonly<Record<string, JsonSchema>>,
): void {
  for (const [name, schema] of Object.entries(schemas)) {
    const path = `/schemas/${name}.json`;
    const text = JSON.stringify(schema);
    router.get(path, path, (ctx) => {
      ctx.type = "application/schema+json";
      ctx.set({ "cache-control": "no-cache", "access-control-allow-origin": "*" });
      ctx.body = text;
    });
  }
}
