import { JsonRpcError, type RequestHandlers } from "../requests.ts";

/** Maximum of resources that one client may subscribe to. */
const MAX_SUBSCRIPTIONS = 1_000;

/** The resources that one client has subscribed to. */
export interface Subscriptions {
  /** @throws {JsonRpcError} the key may not read the resource, or there are too many subscriptions */
  add(uri: string): Record<string, never>;
  remove(uri: string): Record<string, never>;
  close(): void;
}

/** Starts without subscriptions. @param notify tells the client that a resource has changed */
export function createSubscriptions(
  handlers: RequestHandlers,
  notify: (uri: string) => Promise<void>,
): Subscriptions {
  const uris = new Set<string>();
  let unsubscribe: (() => void) | undefined; // set at the first subscription
  return {
    add(uri) {
      if (!handlers.canRead(uri)) {
        throw new JsonRpcError(-32002, `There is no resource ${uri}`, { uri });
      }
      if (uris.size >= MAX_SUBSCRIPTIONS) {
        const message = `At most ${MAX_SUBSCRIPTIONS} subscriptions; give one up first`;
        throw new JsonRpcError(-32000, message);
      }
      uris.add(uri);
      unsubscribe ??= handlers.onResourceChange((changed) => {
        if (uris.has(changed)) notify(changed).catch(handlers.reportError);
      });
      return {};
    },
    remove(uri) {
      uris.delete(uri);
      return {};
    },
    close: () => unsubscribe?.(),
  };
}

interface ListenRequest {
  readonly method?: string;
  readonly params?: {
    readonly notifications?: { readonly resourceSubscriptions?: readonly unknown[] };
  };
}

/**
 * Returns a stateless client's `subscriptions/listen` request without the resources that its key may not read; the
 * client is told which ones are left. Other messages are returned as they are.
 */
export function limitSubscriptions(message: unknown, handlers: RequestHandlers): unknown {
  const { method, params } = message as ListenRequest;
  const uris = params?.notifications?.resourceSubscriptions;
  if (method !== "subscriptions/listen" || !Array.isArray(uris)) return message;
  const resourceSubscriptions = uris.slice(0, MAX_SUBSCRIPTIONS).filter((uri) =>
    typeof uri === "string" && handlers.canRead(uri)
  );
  const notifications = { ...params!.notifications, resourceSubscriptions };
  return { ...message as object, params: { ...params, notifications } };
}
