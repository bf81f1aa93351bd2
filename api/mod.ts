/**
 * The gateway: every operation's REST doors, and the pages that describe them.
 *
 * ```ts
 * const app = createGateway({ operations, invoke, shell, info });
 * ```
 *
 * @module
 */
import Router from "@koa/router";
import type Koa from "koa";
import { type Invoke, buildOpenApi, type OpenApiInfo, type Operation } from "../contract/mod.ts";
import {
  type AppOptions,
  bindPages,
  createApp,
  refuseMethods,
  type RequestState,
} from "../web/mod.ts";
import { bindOperations, type QueryOptions } from "./bind.ts";

export { bindOperations, type QueryOptions } from "./bind.ts";
export { bindSchemas } from "./schemas.ts";

/** What a REST server consists of. */
export interface RestServer<C> extends QueryOptions {
  readonly operations: readonly Operation<C>[];
  readonly invoke: Invoke<C>;
  readonly shell: AppOptions;
  readonly info: OpenApiInfo;
  /** Binds what is no operation: files, pages. Its routes come before those of the operations. */
  readonly routes?: (router: Router<RequestState>) => void;
}

/** Makes the application of a REST server with its description at `/openapi.json`, `/docs` and `/redoc`. */
export function createRestApp<C>(
  { operations, invoke, shell, info, routes, ...options }: RestServer<C>,
): Koa<RequestState> {
  const app = createApp(shell);
  const router = new Router<RequestState>();
  routes?.(router);
  bindOperations(router, operations, invoke, options);
  bindPages(router, buildOpenApi(operations, info), info.title);
  app.use(router.routes());
  app.use(refuseMethods(router, "/docs lists what there is"));
  return app;
}
