import type { FlagName } from "../contract/domain/mod.ts";
import type { Store } from "../store/mod.ts";
import { putFlag } from "../store/platform/mod.ts";
import { asSuperuser } from "./_superuser.ts";

/** Sets a flag without a call, and without a receipt. */
export async function setFlag(store: Store, key: FlagName, value: boolean): Promise<void> {
  const flag = { key, value, revision: 1, updatedBy: "1f0c7b5a9d3e4820", receiptId: "test" };
  await putFlag(asSuperuser(store), flag);
}
