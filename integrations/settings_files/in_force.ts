import type { Store } from "../../store/mod.ts";
import { type ConfigInForce, listConfigInForce } from "../../store/platform/mod.ts";

/** Time for which a list is kept: the files of a process are looked at together, and one question is enough. */
const KEEP_MS = 1_000;

const lists = new WeakMap<
  Store,
  { readonly at: number; readonly list: Promise<ConfigInForce[]> }
>();

/** Lists the versions of settings files in force, as they were within a second. */
export async function listVersionsInForce(store: Store): Promise<readonly ConfigInForce[]> {
  const known = lists.get(store);
  if (known && performance.now() - known.at < KEEP_MS) return await known.list;
  const list = listConfigInForce(store.asPlatform());
  lists.set(store, { at: performance.now(), list });
  list.catch(() => forgetVersions(store));
  return await list;
}

/** Has the next list read anew, as a version was put. */
export function forgetVersions(store: Store): void {
  lists.delete(store);
}
