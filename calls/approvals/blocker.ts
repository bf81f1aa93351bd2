import { Problem } from "../../contract/mod.ts";
import { getAct, type Stop, stopOf, type Store, validKeys } from "../../store/mod.ts";

/**
 * Why approving a call now would use the approval up for nothing; undefined: it would not. It can change until the
 * call is run, which is why that is looked at again then.
 */
export async function whyInVain(store: Store, id: string): Promise<Problem | undefined> {
  const inVain = (why: string) => new Problem("Conflict", `Approving ${id} now is in vain: ${why}`);
  const act = await getAct(store.asPlatform(), id);
  if (!act) return undefined; // a loop waits for the switch itself, and what a program asks about it does by itself
  const { endedAt, error, keyId } = act;
  if (endedAt) return inVain(error?.message ?? "the call that it was to allow has ended");
  if ((await validKeys(store.asPlatform(), [keyId])).length === 0) {
    return inVain(
      "the key that asked was revoked or has expired since, and whoever has its new one is to ask anew",
    );
  }
  const stop = await stopOf(store.asPlatform(), { keyId, names: await namesOf(act) });
  return stop && inVain(stopped(stop));
}

function stopped({ kind, name, reason }: Stop): string {
  const what = `${kind}${name ? ` ${name}` : ""}`;
  return `${kind === "all" ? "everything that changes something" : what} is stopped (${reason}). ` +
    `It stays pending; approve it after npm run governance -- resume ${what}`;
}

/** Every name of an operation: it can be stopped by each. */
async function namesOf({ tool, operation }: { tool: string; operation: string }) {
  const { operations } = await import("../../operations/mod.ts"); // at last, as it is made of this
  const found = operations.find(({ name }) => name === operation);
  return [tool, operation, ...Object.keys(found?.tool ?? {}), ...Object.keys(found?.rest ?? {})];
}
