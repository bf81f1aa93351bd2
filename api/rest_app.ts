import Router from "@koa/router";
import type Koa from "koa";
import {
  buildOpenApi,
  type Invoke,
  type JsonSchema,
  type OpenApiInfo,
  type Operation,
  splitByContract,
} from "../contract/mod.ts";
import {
  type AppOptions,
  bindDescription,
  bindPages,
  createApp,
  type RequestState,
  serveRoutes,
} from "../runtime/web/mod.ts";
import { browserCookies } from "./_cookies.ts";
import { bindOperations } from "./bind.ts";

/** The parts of a REST server. */
export interface RestServer<C> {
  readonly operations: readonly Operation<C>[];
  readonly invoke: Invoke<C>;
  readonly http: AppOptions;
  readonly info: OpenApiInfo;
  /** Binds routes that are no operations, such as files and pages. They come before those of the operations. */
  readonly routes?: (router: Router<RequestState>) => void;
}

/**
 * Creates the application of a REST server, with its description at `/openapi.json`, `/docs` and `/redoc`. Operations beyond
 * the contract are described at `/extensions/openapi.json`.
 */
export function createRestApp<C>(
  { operations, invoke, http, info, routes }: RestServer<C>,
): Koa<RequestState> {
  const app = createApp({ ...http, foreignPages: "read" });
  const router = new Router<RequestState>();
  routes?.(router);
  bindOperations(router, operations, invoke, browserCookies(http));
  const { own, extensions } = splitByContract(operations);
  bindPages(router, () => buildOpenApi(own, info), info.title);
  if (extensions.length > 0) {
    const title = `${info.title}: beyond the contract`;
    bindDescription(
      router,
      "/extensions/openapi.json",
      () => buildOpenApi(extensions, { ...info, title }),
    );
  }
  app.use(serveRoutes(router, "/docs lists what there is"));
  return app;
}

/** Serves the schemas of files that users write, for their editors, at `/schemas/<name>.json`. No rate limit applies. */
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
