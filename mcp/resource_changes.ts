/** Listener to the changes of resources, by their URIs. */
type ResourceListener = (uri: string) => void;

/** The listeners to resource changes in this process. */
export interface ResourceChanges {
  /** Tenants of the listeners. */
  readonly tenants: ReadonlySet<string>;
  /** Calls `listener` at every change of what a tenant may read. @returns the function that unsubscribes */
  listen(tenant: string, listener: ResourceListener): () => void;
  /** @param tenant that owns the resource; undefined: it is public */
  notify(uri: string, tenant?: string): void;
}

/** Starts without listeners. */
export function createResourceChanges(): ResourceChanges {
  const listeners = new Set<{ readonly tenant: string; readonly listener: ResourceListener }>();
  return {
    get tenants() {
      return new Set([...listeners].map(({ tenant }) => tenant));
    },
    listen(tenant, listener) {
      const own = { tenant, listener }; // a function that subscribes twice is called twice
      listeners.add(own);
      return () => listeners.delete(own);
    },
    notify(uri, owner) {
      for (const { tenant, listener } of listeners) {
        if (owner === undefined || owner === tenant) listener(uri);
      }
    },
  };
}
