/** Organizations: what their keys and devices belong to. @module */
import { createTenant } from "./create.ts";
import { tenantList } from "./list.ts";
import { syncTenants } from "./sync.ts";

/** Operations of this folder. */
export const tenantOperations = [
  tenantList,
  createTenant,
  syncTenants,
];
