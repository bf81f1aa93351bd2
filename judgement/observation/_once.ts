/**
 * Returns a function that finds something once for each object, for instance for a fault that several sources look at in
 * one collection.
 */
export function oncePer<Key extends object, Rest extends readonly unknown[], Value>(
  find: (key: Key, ...rest: Rest) => Value,
): (key: Key, ...rest: Rest) => Value {
  const found = new WeakMap<Key, Value>();
  return (key, ...rest) => {
    if (!found.has(key)) found.set(key, find(key, ...rest));
    return found.get(key)!;
  };
}
