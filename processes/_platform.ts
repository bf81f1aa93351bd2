import {
  createInvoke,
  openFailureLimiter,
  openFeedWatch,
  openKeyring,
  openNewsWatch,
  openSpanRecorder,
  type Platform,
} from "../calls/mod.ts";
import type { Config, Settings } from "../config.ts";
import { type Invoke, TIMING } from "../contract/mod.ts";
import { type Engine, loadEngineSecret, openEngine } from "../judgement/engine/mod.ts";
import { openAlertSource } from "../integrations/alerts/mod.ts";
import { openOutside } from "../integrations/outside/mod.ts";
import { openLangfuse, openSpanExporter } from "../integrations/observability/mod.ts";
import { openPolicyAdviser } from "../integrations/policy/mod.ts";
import { createProbes, openViews } from "../operations/integrations/views/mod.ts";
import { openSealer, rootKeyFile, useRootKey, watchChain } from "../ledger/mod.ts";
import { approvalSubjects, registry } from "../operations/mod.ts";
import { openAccessTokens } from "../operations/people/mod.ts";
import { openUsageMeter } from "../store/calls/mod.ts";
import { DEVICE_NEWS } from "../store/devices/mod.ts";
import { openLazyTemporal } from "../runtime/temporal/mod.ts";
import { type AppOptions, isSecure, serverNames } from "../runtime/web/mod.ts";
import { checkDatabase } from "./_check_database.ts";
import { openProcessStore } from "./_open_store.ts";
import type { ProcessParts } from "./_process.ts";

/** The parts that gateway, tool server and worker share. */
export interface OpenPlatform {
  readonly platform: Platform;
  readonly invoke: Invoke<Platform>;
  /** Options of the process's HTTP server. */
  readonly http: AppOptions;
  /** Lets calls that still wait for a run or a receipt be answered with how that stands, instead of being cut off. */
  endWaits(): void;
  close(): Promise<void>;
}

/** Parts that whoever opens a platform may have already. */
type GivenParts = Partial<Pick<Platform, "temporal" | "engine" | "operations" | "urls" | "timing">>;

/**
 * Opens the platform on its database, as the role of its process; Temporal is connected to when it is first needed.
 *
 * @param given parts in place of those that would be opened; they are not closed with it
 */
export async function openPlatform(
  parts: ProcessParts,
  role: "gateway" | "tools" | "worker",
  given: GivenParts = {},
): Promise<OpenPlatform> {
  const { config, log } = parts;
  const { settings } = config;
  const store = openProcessStore(parts, role);
  const failures = openFailureLimiter(settings.SEALOOP_LIMIT_UNKNOWN_KEYS);
  useRootKey(store, rootKeyFile(config.dataDir));
  await checkDatabase(store).catch(async (error) => {
    await store.close();
    throw error;
  });
  const [sealer, chain, keyring] = await Promise.all([
    openSealer(store),
    watchChain(store, { onDemand: true }),
    openKeyring(store, failures),
  ]);
  const lazyTemporal = openLazyTemporal(config, store);
  const { temporal = lazyTemporal.client, engine = connectEngine(config), operations = registry } =
    given;
  const adviser = openPolicyAdviser(config);
  const outside = openOutside(config);
  const spans = openSpanRecorder(store.asPlatform());
  const exporter = openSpanExporter(config);
  const probed = {
    adviser,
    exporter,
    langfuse: openLangfuse(config),
    spans,
    outside,
    config,
    store,
    chain,
    engine,
    temporal,
    operations,
  };
  const urls = given.urls ?? {
    gateway: settings.SEALOOP_GATEWAY_URL ?? `http://localhost:${settings.SEALOOP_GATEWAY_PORT}`,
    ledger: settings.SEALOOP_LEDGER_URL ?? `http://127.0.0.1:${settings.SEALOOP_LEDGER_PORT}`,
  };
  const ending = new AbortController();
  const platform: Platform = {
    config,
    log,
    store,
    sealer,
    chain,
    usage: openUsageMeter(store.asPlatform()),
    keyring,
    accessTokens: role === "tools" && outside.oidc
      ? openAccessTokens({
        oidc: outside.oidc,
        store,
        failures,
        resource: toolServerUrl(settings) + "/mcp",
        gateway: urls.gateway,
      })
      : undefined,
    feed: openFeedWatch(store, settings.SEALOOP_LIMIT_STREAMS),
    devices: openNewsWatch(store, DEVICE_NEWS),
    failures,
    engine,
    adviser,
    outside,
    views: openViews(store.asPlatform(), createProbes(probed), log),
    spans,
    exporter,
    alerts: openAlertSource(config),
    temporal,
    timing: given.timing ?? TIMING,
    ending: ending.signal,
    urls,
    operations,
    subjects: approvalSubjects,
  };
  return {
    platform,
    invoke: createInvoke(platform),
    http: {
      log,
      trustedHops: settings.SEALOOP_TRUSTED_HOPS,
      secure: isSecure(settings),
      names: serverNames(settings, publicUrls(settings, role)),
    },
    endWaits() {
      ending.abort();
      void sealer.close();
    },
    async close() {
      await platform.spans.close();
      const parts = [sealer, chain, keyring, platform.feed, platform.devices, lazyTemporal];
      await Promise.allSettled(parts.map((part) => part.close()));
      await store.close();
    },
  };
}

/** Returns the public addresses of a process's server. The gateway serves articles, too. */
function publicUrls(
  { SEALOOP_GATEWAY_URL, SEALOOP_MCP_URL, SEALOOP_ARTICLES_URL }: Settings,
  role: "gateway" | "tools" | "worker",
) {
  return role === "tools" ? [SEALOOP_MCP_URL] : [SEALOOP_GATEWAY_URL, SEALOOP_ARTICLES_URL];
}

/** Returns the address by which clients reach the tool server, without a slash at the end. */
function toolServerUrl({ SEALOOP_MCP_URL, SEALOOP_MCP_PORT }: Settings): string {
  return SEALOOP_MCP_URL?.replace(/\/$/, "") ?? `http://127.0.0.1:${SEALOOP_MCP_PORT}`;
}

function connectEngine(config: Config): Engine {
  const { settings } = config;
  let secret: string | undefined;
  return openEngine({
    url: settings.SEALOOP_ENGINE_URL?.replace(/\/$/, "") ??
      `http://127.0.0.1:${settings.SEALOOP_ENGINE_PORT}`,
    secret: () => secret ??= loadEngineSecret(config),
  });
}
