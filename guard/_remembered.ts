/** Most texts that are remembered, and the longest of them, in UTF-16 units. */
const MOST = 1_000;
const LONGEST = 2_000;

/**
 * Remembers what was found in a text: repairs are proposed in the same words again and again, incidents are not.
 *
 * @param find depends on its argument alone
 * @param keyOf distinct for arguments of which distinct things are found; undefined: not to be remembered
 */
export function remembered<A, R>(
  find: (argument: A) => R,
  keyOf: (argument: A) => string | undefined,
): (argument: A) => R {
  const known = new Map<string, R>();
  return (argument) => {
    const key = keyOf(argument);
    if (key === undefined || key.length > LONGEST) return find(argument);
    const there = known.get(key);
    if (there !== undefined) {
      known.delete(key); // and put at the end, so that what is used least is forgotten first
      known.set(key, there);
      return there;
    }
    const found = find(argument);
    known.set(key, found);
    if (known.size > MOST) known.delete(known.keys().next().value!);
    return found;
  };
}
