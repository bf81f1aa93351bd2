import { createRestApp } from "../api/mod.ts";
import { createInvoke } from "../contract/mod.ts";
import { ledgerOperations, type LedgerParts, watchChain } from "../ledger/mod.ts";
import { openStore } from "../store/mod.ts";
import { isSecure, serve } from "../web/mod.ts";
import { type Parts, type Running, runProcess } from "./_process.ts";

await runProcess("ledger", startLedger);

/** Serves the public ledger: everybody may read everything, and nothing can be written. */
async function startLedger({ config, log, databaseUrl }: Parts): Promise<Running> {
  const { settings } = config;
  const store = openStore(databaseUrl("ledger"), "ledger");
  const chain = await watchChain(store);
  const ledgerUrl = settings.SEALOOP_LEDGER_URL ??
    `http://127.0.0.1:${settings.SEALOOP_LEDGER_PORT}`;
  const parts: LedgerParts = { store, chain, ledgerUrl };
  const invoke = createInvoke<LedgerParts>({
    authenticate: ({ address }) =>
      Promise.resolve({
        keyId: null,
        tenant: "public",
        tier: "free",
        scope: "full",
        principal: "public",
        mayApprove: false,
        address,
      }),
    admit: () => Promise.resolve(undefined),
    govern: () => Promise.resolve(),
    context: (call) => ({ ...parts, ...call }),
    record: () => Promise.resolve(undefined),
  });
  const app = createRestApp({
    operations: ledgerOperations,
    invoke,
    shell: {
      log,
      trustedHops: settings.SEALOOP_TRUSTED_HOPS,
      secure: isSecure(settings),
      openCors: true,
    },
    info: {
      title: "sealoop public ledger",
      description: "Verify receipts, and the whole chain, without trusting us.",
      keys: false,
    },
  });
  const server = await serve(app, settings, settings.SEALOOP_LEDGER_PORT);
  return {
    address: server.address,
    async stop() {
      await server.close();
      await chain.close();
      await store.close();
    },
  };
}
