import { Problem } from "../contract/mod.ts";
import { PLATFORM_TENANT } from "../contract/domain/mod.ts";
import type { Platform } from "./platform.ts";

/** Refuses what is about the operator's host or processes to keys of other tenants. @throws {Problem} `Forbidden` */
export function refuseTenants({ tenant }: Platform["store"], what: string): void {
  if (tenant === PLATFORM_TENANT) return;
  throw new Problem(
    "Forbidden",
    `${what} are the operator's: that takes a key of ${PLATFORM_TENANT}`,
  );
}
