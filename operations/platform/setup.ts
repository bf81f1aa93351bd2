import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { CHANNELS } from "../../contract/domain/mod.ts";
import {
  BadCommsFile,
  commsFilePath,
  kindOf,
  readCommsFile,
} from "../../integrations/channels/mod.ts";
import { listReceiptsBy } from "../../ledger/mod.ts";
import { getCmdbSummary } from "../../store/cmdb/mod.ts";
import { findValidKeys } from "../../store/keys/mod.ts";
import { getDeliveredMessage, getHealedDrill } from "../../store/platform/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

/** Receipts of calls of tools among which the caller's agents are looked for. */
const MAX_CALLS = 100;

/** Progress of the first day's five steps, each with its proof. */
export const platformSetup = operation({
  name: "platform.setup",
  group: "console",
  extension: true,
  summary: "Show which steps of the first day are done, each with its proof",
  description: "The passkey is in `GET /v1/console/session`.",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    drill: z.object({ ticket_id: z.string(), opened_at: Timestamp, resolved_at: Timestamp })
      .nullable().describe("The newest drill that was healed; null: none yet"),
    services: z.number().int().describe("Services of your own that are watched"),
    alert_source: z.boolean().describe("Whether alerts of your own monitoring are read"),
    channels: z.array(z.object({ name: z.string(), kind: z.enum(CHANNELS) })),
    message: z.object({ message_id: z.string(), channel: z.string(), at: Timestamp }).nullable()
      .describe("The newest message that a channel has taken; null: none yet"),
    agent: z.object({
      key_id: z.string(),
      principal: z.string(),
      tool: z.string(),
      receipt_id: z.string(),
      at: z.string(),
    }).nullable().describe("The newest call of a tool by an agent of yours; null: none yet"),
    mcp_port: z.number().int().describe("Port of the tool server"),
  }),
  rest: { console_setup: "GET /v1/console/setup" },
  presentation: { untrusted: true },
  example: {
    input: {},
    output: {
      drill: null,
      services: 0,
      alert_source: false,
      channels: [{ name: "phone", kind: "ntfy" }],
      message: null,
      agent: null,
      mcp_port: 8081,
    },
  },
  async run(_, context) {
    const { store, config, alerts } = context;
    const [drill, cmdb, message, agent] = await Promise.all([
      getHealedDrill(store.db),
      getCmdbSummary(store.db),
      getDeliveredMessage(store.db),
      findAgent(context),
    ]);
    return {
      drill: drill
        ? {
          ticket_id: drill.ticket_id,
          opened_at: drill.opened_at.toISOString(),
          resolved_at: drill.resolved_at.toISOString(),
        }
        : null,
      services: cmdb.by_origin.file ?? 0,
      alert_source: alerts !== undefined,
      channels: listChannels(context),
      message: message
        ? {
          message_id: message.message_id,
          channel: message.channel,
          at: message.ended_at.toISOString(),
        }
        : null,
      agent,
      mcp_port: config.settings.SEALOOP_MCP_PORT,
    };
  },
});

/** Returns the channels that the file names for the caller's tenant; none where it can't be read. */
function listChannels({ config, store }: Context) {
  try {
    const section = readCommsFile(commsFilePath(config)).get(store.tenant);
    return Object.entries(section?.channels ?? {}).map(([name, channel]) => ({
      name,
      kind: kindOf(channel),
    }));
  } catch (error) {
    if (error instanceof BadCommsFile) return [];
    throw error;
  }
}

/** Finds the newest call of a tool by a key of the caller's tenant, by the public receipts. */
async function findAgent({ store }: Context) {
  const receipts = await listReceiptsBy(store, { categories: ["tool_call"] }, { limit: MAX_CALLS });
  const calls = receipts.map(({ id, text }) => {
    const { actor, subject, timestamp } = JSON.parse(text) as Record<string, string>;
    return {
      id,
      keyId: actor?.replace(/^key:/, "") ?? "",
      tool: subject ?? "",
      at: timestamp ?? "",
    };
  });
  const keys = await findValidKeys(store.asPlatform(), [...new Set(calls.map((one) => one.keyId))]);
  const own = new Map(
    keys.filter(({ tenant }) => tenant === store.tenant).map((key) => [key.id, key]),
  );
  const call = calls.find(({ keyId }) => own.has(keyId));
  return call
    ? {
      key_id: call.keyId,
      principal: own.get(call.keyId)!.principal,
      tool: call.tool,
      receipt_id: call.id,
      at: call.at,
    }
    : null;
}
