/** The listeners to resource changes in this process. */
export interface ResourceChanges {
  readonly listenerCount: number;
  /** Calls `listener` at every change. @returns the function that unsubscribes */
  listen(listener: (uri: string) => void): () => void;
  notify(uri: string): void;
}

/** Starts without listeners. */
export function createResourceChanges(): ResourceChanges {
  const listeners = new Set<(uri: string) => void>();
  return {
    get listenerCount() {
      return listeners.size;
    },
    listen(listener) {
      const own = (uri: string) => listener(uri); // a function that subscribes twice is called twice
      listeners.add(own);
      return () => listeners.delete(own);
    },
    notify(uri) {
      for (const listener of listeners) listener(uri);
    },
  };
}
