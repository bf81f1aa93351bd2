import { Problem } from "../contract/mod.ts";
import type { Platform } from "../calls/mod.ts";
import { getTenantRecord } from "../store/keys/mod.ts";

/** The input of a call that may name a tenant: another one than the caller's own takes a key of tier admin. */
interface TenantInput {
  readonly tenant_id?: string | undefined;
}

/** Returns the tenant that a call names; undefined: it names none, or one that does not exist. */
export async function namedTenant(
  { tenant_id }: TenantInput,
  { store }: Pick<Platform, "store">,
): Promise<string | undefined> {
  if (tenant_id === undefined) return undefined;
  return (await getTenantRecord(store.asPlatform(), tenant_id))?.id;
}

/** Refuses a call that names another tenant than the one in whose name it is made. @throws {Problem} `NotFound` */
export function refuseOtherTenant(
  { tenant_id }: TenantInput,
  { store }: Pick<Platform, "store">,
): void {
  if (tenant_id === undefined || tenant_id === store.tenant) return;
  throw new Problem("NotFound", `There is no organization ${tenant_id}`);
}
