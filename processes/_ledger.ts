import { join } from "node:path";
import { createRestApp } from "../api/mod.ts";
import {
  bindExportStream,
  bindLog,
  createLedgerInvoke,
  createPageCalls,
  ledgerOperations,
  rootKeyFile,
  useRootKey,
  watchChain,
} from "../ledger/mod.ts";
import { bindSite } from "../ledger/page/mod.ts";
import { isSecure, serve, serverNames } from "../runtime/web/mod.ts";
import { openProcessStore } from "./_open_store.ts";
import type { ProcessParts, RunningProcess } from "./_process.ts";

/** Pause between two verifications of the whole chain, milliseconds. */
const RECHECK_MS = 5 * 60_000;
const INFO = {
  title: "sealoop public ledger",
  description:
    "Verify receipts, and the whole chain, without trusting us. Everything is open: it needs no key.",
  keys: false,
};

/**
 * Serves the public ledger: everybody may read everything, and nothing can be written.
 *
 * @param port TCP port; 0 takes a free one
 */
export async function startLedger(
  parts: ProcessParts,
  port: number = parts.config.settings.SEALOOP_LEDGER_PORT,
): Promise<RunningProcess & { readonly address: string }> {
  const { config: { settings, dataDir }, log } = parts;
  const store = openProcessStore(parts, "ledger", 2);
  useRootKey(store, rootKeyFile(dataDir));
  const chain = await watchChain(store, {
    recheckEveryMs: RECHECK_MS,
    onRecheck: (recheck) => log.info(recheck, "Verified the whole chain again"),
    markFile: join(dataDir, "verified.json"),
    onError: (err) => log.warn({ err }, "Cannot store or read how far the chain is verified"),
  });
  const ledgerUrl = settings.SEALOOP_LEDGER_URL ?? `http://127.0.0.1:${port}`;
  const invoke = createLedgerInvoke({ store, chain, ledgerUrl });
  const app = createRestApp({
    operations: ledgerOperations,
    invoke,
    routes(router) {
      bindSite(router, { call: createPageCalls(invoke), ledgerUrl });
      bindLog(router, store);
      bindExportStream(router, store);
    },
    http: {
      log,
      trustedHops: settings.SEALOOP_TRUSTED_HOPS,
      secure: isSecure(settings),
      names: serverNames(settings, [settings.SEALOOP_LEDGER_URL]),
      openCors: true,
      cacheReads: true,
    },
    info: INFO,
  });
  const server = await serve(app, settings, port);
  return {
    address: server.address,
    retire: server.retire,
    async stop() {
      await server.close();
      await chain.close();
      await store.close();
    },
  };
}
