import type { Context } from "koa";

/** Returns a signal that aborts when the client closes its connection before it has the response. */
export function disconnectSignal({ res }: Context, reason?: Error): AbortSignal {
  const controller = new AbortController();
  res.once("close", () => {
    if (!res.writableFinished) controller.abort(reason);
  });
  return controller.signal;
}
