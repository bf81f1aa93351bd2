/**
 * The Agent2Agent protocol, version 0.3 and, where the header `A2A-Version` asks for it, 1.0: tools as skills, and
 * conversations with the reasoning pipeline as tasks.
 *
 * ```ts
 * const { close } = bindA2a(router, { tools, invoke, auth, tasks, sendMessage, cancelTask, … });
 * ```
 *
 * No other folder imports the SDK of A2A.
 * @module
 */
import type Router from "@koa/router";
import type { RequestState } from "../../runtime/web/mod.ts";
import { bindCards } from "./card_routes.ts";
import { createRpcRoute, type RpcParts } from "./rpc_route.ts";

export type { TaskParts } from "./handlers.ts";
export { MAX_A2A_BODY } from "./request.ts";

/** Binds the routes of A2A. @returns what ends the open streams; their clients may resubscribe elsewhere */
export function bindA2a<C>(
  router: Router<RequestState>,
  parts: Omit<RpcParts<C>, "ending">,
): { close(): void } {
  const ending = new AbortController();
  bindCards(router, parts);
  router.post("a2a", "/a2a", createRpcRoute({ ...parts, ending: ending.signal }));
  return { close: () => ending.abort() };
}
