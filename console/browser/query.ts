/** Query of a list, as its address has it. */

/**
 * Changes what is asked for, from the first page on, and shows that in the address.
 *
 * @param changes values by name; an empty one takes the name away
 * @returns what is asked for now
 */
export function showQuery(
  asked: URLSearchParams,
  changes: Readonly<Record<string, string>>,
): URLSearchParams {
  const query = new URLSearchParams(asked);
  for (const name of ["older_than", "newer_than"]) query.delete(name);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  history.pushState(null, "", `?${query}`);
  return query;
}
