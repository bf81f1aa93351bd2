import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { getDeviceFigures } from "../../store/devices/mod.ts";
import { exampleView, IntegrationView } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

/** Health of the management of machines. */
export const rmmHealth = operation({
  name: "rmm.health",
  group: "devices",
  summary: "Check whether the managed machines are heard from",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: IntegrationView,
  tool: { rmm_health: FULL },
  example: {
    input: {},
    output: { ...exampleView, integration: "rmm", detail: "2 of 2 devices are heard from" },
  },
  run: async (_, context) => {
    const { store, views } = context;
    const [view, { by_status }] = await Promise.all([
      views.view("rmm", context),
      getDeviceFigures(store.db),
    ]);
    const { online, late, offline, quarantined } = by_status;
    return { // of the caller's tenant
      ...view,
      status: offline + quarantined > 0 ? "degraded" as const : "ok" as const,
      detail: `${online + late} of ${online + late + offline + quarantined} devices are heard from`,
    };
  },
});
