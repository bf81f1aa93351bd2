/** Most results that are kept, and the longest key, in UTF-16 units. */
const MAX_RESULTS = 1_000;
const MAX_KEY_LENGTH = 2_000;

/**
 * Keeps the results of a function, as repairs are proposed in the same words again and again. The result that was used
 * longest ago is dropped first.
 *
 * @param compute depends on its argument alone
 * @param keyOf differs for arguments with different results; undefined: the result is not kept
 */
export function memoize<A, R>(
  compute: (argument: A) => R,
  keyOf: (argument: A) => string | undefined,
): (argument: A) => R {
  const results = new Map<string, R>();
  return (argument) => {
    const key = keyOf(argument);
    if (key === undefined || key.length > MAX_KEY_LENGTH) return compute(argument);
    const kept = results.get(key);
    if (kept !== undefined) {
      results.delete(key); // moves it to the end of the order of insertion
      results.set(key, kept);
      return kept;
    }
    const result = compute(argument);
    results.set(key, result);
    if (results.size > MAX_RESULTS) results.delete(results.keys().next().value!);
    return result;
  };
}
