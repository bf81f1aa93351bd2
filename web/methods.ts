import type Router from "@koa/router";
import type { Context, Next } from "koa";
import { Problem } from "../contract/mod.ts";
import type { RequestState } from "./app.ts";

/** Answers an unknown method of a known path with 405 and `Allow`, and OPTIONS with what there is. */
export function refuseMethods(
  router: Router<RequestState>,
): (ctx: Context, next: Next) => Promise<void> {
  const allow = router.allowedMethods();
  return async (ctx, next) => {
    await allow(ctx as never, next);
    if (ctx.status !== 405 && ctx.status !== 501) return;
    const allowed = ctx.response.get("allow");
    throw new Problem("MethodNotAllowed", `${ctx.path} has no ${ctx.method}, but ${allowed}`, {
      headers: { allow: allowed },
    });
  };
}
