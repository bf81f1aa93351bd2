import type Router from "@koa/router";
import type { Context } from "koa";
import { Problem } from "../../contract/mod.ts";
import { findSimilarPath } from "./_similar_path.ts";
import type { RequestState } from "./app.ts";

/**
 * Creates the middleware that serves a router's routes. It answers an unknown method of a known path with 405 and `Allow`,
 * `OPTIONS` with `Allow`, and an unknown path with 404 and the most similar path.
 *
 * A path that a route spells out belongs to such routes alone: `POST /v1/workflows/start` leaves no `GET` for
 * `/v1/workflows/{workflow_id}` there.
 *
 * @param index a clause that tells people where the paths are listed
 */
export function serveRoutes(
  router: Router<RequestState>,
  index?: string,
): (ctx: Context) => Promise<void> {
  const routes = router.routes();
  const spelledOut = methodsOfLiteralPaths(router);
  return async (ctx) => {
    const methods = spelledOut.get(normalize(ctx.path));
    if (methods && !methods.has(ctx.method)) return refuseMethod(ctx, methods);
    await routes(ctx as never, () => {
      const { matched = [] } = ctx as { matched?: readonly { readonly methods: string[] }[] };
      const methods = new Set(matched.flatMap(({ methods }) => methods));
      if (methods.size === 0 || methods.has(ctx.method)) {
        const similar = findSimilarPath(router, ctx.method, ctx.path);
        throw toUnknownPathProblem(ctx, similar, index);
      }
      refuseMethod(ctx, methods);
      return Promise.resolve();
    });
  };
}

/** Returns the methods of each path that has no parameters. */
function methodsOfLiteralPaths({ stack }: Router<RequestState>): Map<string, Set<string>> {
  const byPath = new Map<string, Set<string>>();
  for (const { path, methods } of stack) {
    if (typeof path !== "string" || /[:*{(]/.test(path)) continue;
    const all = byPath.get(normalize(path)) ?? new Set();
    methods.forEach((method) => all.add(method));
    byPath.set(normalize(path), all);
  }
  return byPath;
}

/** Routes match in any case, and with a slash at the end. */
const normalize = (path: string) => path.toLowerCase().replace(/(?<=.)\/$/, "");

function refuseMethod(ctx: Context, methods: ReadonlySet<string>): void {
  const allow = [...methods].join(", ");
  if (ctx.method === "OPTIONS") {
    ctx.status = 200;
    ctx.body = "";
    ctx.set({ allow });
    return;
  }
  const message = `Cannot ${ctx.method} ${ctx.path}: it accepts ${allow}`;
  throw new Problem("MethodNotAllowed", message, { headers: { allow } });
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
