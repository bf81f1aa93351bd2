import type { RequestContext, RequestHandlers } from "../requests.ts";

/** Capabilities of the tool server, in every revision. */
export const CAPABILITIES = {
  tools: {},
  resources: { subscribe: true },
  prompts: {},
  completions: {},
  logging: {},
};

/** Maximum of values in one completion. @see MCP, Completion */
const MAX_COMPLETIONS = 100;

/** Handles `completion/complete`. */
export async function complete(
  { argument: { name, value } }: { argument: { name: string; value: string } },
  handlers: RequestHandlers,
  context: RequestContext,
) {
  const all = await handlers.complete(name, value, context);
  const values = all.slice(0, MAX_COMPLETIONS);
  return { completion: { values, total: all.length, hasMore: values.length < all.length } };
}

interface ProgressNotification {
  readonly method: "notifications/progress";
  readonly params: {
    progressToken: string | number;
    progress: number;
    total: number;
    message: string;
  };
}

/** Returns the function that reports a call's progress. It does nothing without a token of the client. */
export function createProgress(
  progressToken: string | number | undefined,
  notify: (notification: ProgressNotification) => Promise<void>,
  { reportError }: RequestHandlers,
) {
  return (progress: number, total: number, message: string) => {
    if (progressToken === undefined) return;
    const params = { progressToken, progress, total, message };
    notify({ method: "notifications/progress", params }).catch(reportError);
  };
}

/** Wraps data of a request in `authInfo`, the only field that the SDKs pass on to handlers. It holds no key. */
export const toAuthInfo = (extra: object) => ({
  token: "",
  clientId: "",
  scopes: [],
  extra: extra as Record<string, unknown>,
});
