import type Koa from "koa";
import { createToolServerAuth, followResources, type Platform } from "../calls/mod.ts";
import type { Operation } from "../contract/mod.ts";
import { createToolServer, type SessionTiming } from "../mcp/mod.ts";
import { watchTasks } from "../operations/a2a/tasks/mod.ts";
import { cancelTask, operations as all, sendMessage } from "../operations/mod.ts";
import type { RequestState } from "../runtime/web/mod.ts";
import { requireReady } from "../store/mod.ts";
import { safeMakerOf } from "./_make_safe.ts";
import type { OpenPlatform } from "./_platform.ts";

/** An open tool server, ready to be served. */
export interface OpenToolServer {
  readonly app: Koa<RequestState>;
  /** Ends the sessions. Only short answers are left then. @param timeoutMs of the wait for calls under way */
  drain(timeoutMs?: number): Promise<void>;
  /** Closes what follows tasks and resources, once nothing is served any more. */
  close(): Promise<void>;
}

/** Opens the tool server: the operations over MCP and A2A. */
export async function openToolServer(
  { platform, invoke, http }: OpenPlatform,
  { operations = all, timing }: {
    readonly operations?: readonly Operation<Platform>[];
    readonly timing?: SessionTiming | undefined;
  } = {},
): Promise<OpenToolServer> {
  const { settings } = platform.config;
  const tasks = await watchTasks(platform);
  const tools = createToolServer({
    operations,
    checkReady: () => requireReady(platform.store),
    makeSafe: safeMakerOf(platform),
    invoke,
    auth: createToolServerAuth(platform),
    http,
    limits: {
      perMinute: settings.SEALOOP_LIMIT_TOOLS,
      simulatePerMinute: settings.SEALOOP_LIMIT_SIMULATE,
    },
    url: settings.SEALOOP_MCP_URL,
    a2a: { tasks, sendMessage, cancelTask },
    gatewayUrl: platform.urls.gateway,
    timing,
  });
  const resources = await followResources(platform, tools);
  return {
    app: tools.app,
    drain: (timeoutMs) => tools.close(timeoutMs),
    async close() {
      await resources.close();
      await tasks.close();
    },
  };
}
