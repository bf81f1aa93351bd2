import type { Platform } from "../calls/mod.ts";
import { findInjection } from "../judgement/guard/mod.ts";
import { createMakeSafe, type MakeSafe } from "../mcp/mod.ts";
import { recallComposedTexts } from "../store/mod.ts";

/** Creates what makes values safe for models: texts that the platform has composed itself are found in its database. */
export function safeMakerOf({ store }: Pick<Platform, "store">): MakeSafe {
  return createMakeSafe(
    findInjection,
    (tenant, texts) => recallComposedTexts(store.asTenant(tenant), texts),
  );
}
