/** What holds for calls that change something and on which governance does not decide. */
import { type GovernedCall, isGoverned, Problem } from "../contract/mod.ts";
import { inForce, stopsCall, type Store } from "../store/mod.ts";

/**
 * Refuses what must not be done all the same: what is only asked about, as there is no dry run of it; and what a key or
 * a tool may not do any more that somebody has stopped. A stop of everything lets it be, as people decide by such calls.
 *
 * @throws {Problem} `InvalidInput` or `Denied`
 */
export async function refuseUngoverned<C>(
  store: Store,
  { operation, request, caller }: GovernedCall<C>,
): Promise<void> {
  if (operation.effect === "read" || isGoverned(operation)) return;
  if (request.dryRun) {
    const msg = `There is no dry run of ${operation.name}, and so nothing was done`;
    const detail = [{ loc: ["header", "x-dry-run"], msg, type: "value_error" }];
    throw new Problem("InvalidInput", msg, { body: { detail } });
  }
  const { keyId } = caller;
  if (keyId === null) return;
  const names = [request.as, operation.name, ...Object.keys(operation.rest ?? {})];
  const stop = (await inForce(store)).stops.find((one) =>
    one.kind !== "all" && stopsCall(one, keyId, names)
  );
  if (!stop) return;
  const what = stop.kind === "key" ? "This key" : "This operation";
  throw new Problem("Denied", `${what} is stopped: ${stop.reason}`);
}
