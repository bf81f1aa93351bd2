import { findKeyById } from "../../store/keys/mod.ts";
import { putSignInLink } from "../../store/people/mod.ts";
import { asSuperuser } from "../_superuser.ts";
import type { People } from "./_people.ts";

/** Makes a link for the holder of a key, as the operator's command does. @returns its secret */
export async function signInLink(
  { keyId, store }: People,
  who: string,
  recovers = false,
): Promise<string> {
  const id = keyId(who);
  const { tenant } = (await findKeyById(store.asPlatform(), id))!;
  return await asSuperuser({ url: store.url, tenant }).transaction(async (trx) => {
    await trx.execute("SELECT set_config('sealoop.tenant', $1, true)", [tenant]);
    return await putSignInLink(trx, { keyId: id, recovers }, 600);
  });
}
