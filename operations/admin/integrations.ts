import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import type { IntegrationName } from "../../contract/domain/mod.ts";
import { findCredential } from "../../integrations/channels/mod.ts";
import { remoteSettingsOf } from "../../integrations/outside/mod.ts";
import { listIntegrationHealth } from "../../store/platform/mod.ts";
import { exampleView, IntegrationView, Timestamp } from "../schemas/mod.ts";

/** The integrations as an admin sees them. */
export const adminIntegrations = operation({
  name: "admin.integrations",
  group: "admin",
  summary: "List the integrations with their hosts, and when they worked and failed last",
  effect: "read",
  access: "admin",
  input: z.object({}),
  output: z.object({
    integrations: z.array(IntegrationView.extend({
      configured: z.boolean().describe("Whether a system of others is set"),
      host: z.string().nullable().describe("Of that system; null: none is set"),
      credential_set: z.boolean().describe(
        "Whether its credential can be read; never the credential",
      ),
      last_ok_at: Timestamp.nullable(),
      last_error: z.string().nullable(),
    })),
  }),
  rest: { admin_integrations: "GET /v1/admin/integrations" },
  example: {
    input: {},
    output: {
      integrations: [{
        ...exampleView,
        configured: false,
        host: null,
        credential_set: false,
        last_ok_at: "2026-07-01T12:00:00.000Z",
        last_error: null,
      }],
    },
  },
  run: async (_, context) => {
    const { views, store, config } = context;
    const all = await views.all(context);
    const health = await listIntegrationHealth(store.asPlatform());
    return {
      integrations: all.map((view) => {
        const known = health.find(({ integration }) => integration === view.integration);
        return {
          ...view,
          ...remoteOf(view.integration, config),
          last_ok_at: known?.lastOkAt?.toISOString() ?? null,
          last_error: known?.lastError ?? null,
        };
      }),
    };
  },
});

function remoteOf(name: IntegrationName, config: Context["config"]) {
  const remote = remoteSettingsOf(name, config);
  if (remote === undefined) return { configured: false, host: null, credential_set: false };
  return {
    configured: true,
    host: new URL(remote.url).host,
    credential_set: hasCredential(config, remote.credential),
  };
}

function hasCredential(config: Context["config"], name: string): boolean {
  try {
    return findCredential(config, name) !== undefined;
  } catch { // it is there, and can't be used
    return false;
  }
}
