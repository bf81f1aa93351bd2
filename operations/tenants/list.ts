import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { getTenantRecord, listTenantRecords } from "../../store/keys/mod.ts";
import { exampleTenant, Tenant, toTenant } from "./_schemas.ts";

/** Organizations. */
export const tenantList = operation({
  name: "tenants.list",
  group: "devices",
  summary: "List organizations: your own; with a key of tier admin, all",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({ total: z.number().int(), tenants: z.array(Tenant) }),
  rest: { tenants_list: "GET /v1/tenants" },
  governance: { spansTenants: true },
  example: { input: {}, output: { total: 1, tenants: [exampleTenant] } },
  run: async (_, { store, spansTenants }) => {
    const own = spansTenants ? [] : [await getTenantRecord(store.db, store.tenant)];
    const records = spansTenants ? await listTenantRecords(store.db) : own.filter((one) => !!one);
    return { total: records.length, tenants: records.map(toTenant) };
  },
});
