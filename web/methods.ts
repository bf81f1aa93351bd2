import type Router from "@koa/router";
import type { Context, Next } from "koa";
import { Problem } from "../contract/mod.ts";
import { findSimilarPath } from "./_similar_path.ts";
import type { RequestState } from "./app.ts";

/**
 * Creates the middleware that answers an unknown method of a known path with 405 and `Allow`, `OPTIONS` with `Allow`,
 * and an unknown path with 404 and the most similar path.
 *
 * @param index a clause that tells people where the paths are listed
 */
export function refuseMethods(
  router: Router<RequestState>,
  index?: string,
): (ctx: Context, next: Next) => Promise<void> {
  const allow = router.allowedMethods();
  return async (ctx, next) => {
    await allow(ctx as never, next);
    if (ctx.status === 404) {
      throw toUnknownPathProblem(ctx, findSimilarPath(router, ctx.method, ctx.path), index);
    }
    if (ctx.status !== 405 && ctx.status !== 501) return;
    const allowed = ctx.response.get("allow");
    throw new Problem(
      "MethodNotAllowed",
      `Cannot ${ctx.method} ${ctx.path}: it accepts ${allowed}`,
      {
        headers: { allow: allowed },
      },
    );
  };
}

function toUnknownPathProblem(
  { method, path }: Context,
  similar?: string,
  index?: string,
): Problem {
  const advice = [similar && `did you mean ${similar}?`, index].filter(Boolean).join(" ");
  return new Problem(
    "NotFound",
    `There is nothing at ${method} ${path}${advice && `; ${advice}`}`,
  );
}
