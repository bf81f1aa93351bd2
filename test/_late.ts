/** Parts that are there only after those that need them. */

/** An object whose methods are those of another, which is asked for at each call. */
export function late<T extends object>(get: () => T): T {
  return new Proxy({} as T, {
    get: (_, name) => (...args: unknown[]) => {
      const it = get() as Record<PropertyKey, (...args: unknown[]) => unknown>;
      return it[name]!(...args);
    },
  });
}
