import type Koa from "koa";
import {
  bindArticles,
  bindCalendarFeed,
  bindMailLinks,
  bindMediaFiles,
  bindSchemas,
  createRestApp,
} from "../api/mod.ts";
import type { Platform } from "../calls/mod.ts";
import { bindConsole } from "../console/mod.ts";
import type { Operation } from "../contract/mod.ts";
import { operations as all } from "../operations/mod.ts";
import type { RequestState } from "../runtime/web/mod.ts";
import { GATEWAY_INFO } from "./_gateway_info.ts";
import type { OpenPlatform } from "./_platform.ts";
import { SCHEMAS } from "./_schemas.ts";

/** Creates the application of the gateway: the operations over REST, and what is no operation. */
export function createGatewayApp(
  { platform, invoke, http }: OpenPlatform,
  operations: readonly Operation<Platform>[] = all,
): Koa<RequestState> {
  return createRestApp({
    operations,
    invoke,
    http,
    info: GATEWAY_INFO,
    routes(router) {
      bindSchemas(router, SCHEMAS);
      bindMailLinks(router, platform);
      bindCalendarFeed(router, platform);
      bindArticles(router, platform);
      bindMediaFiles(router, platform);
      bindConsole(router);
    },
  });
}
