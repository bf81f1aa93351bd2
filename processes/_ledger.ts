import { randomUUID } from "node:crypto";
import {
  asProblem,
  type Caller,
  type Invoke,
  isDatabaseAway,
  parseInput,
  Problem,
} from "../contract/mod.ts";
import {
  bindExportStream,
  bindLog,
  ledgerOperations,
  type LedgerParts,
  watchChain,
} from "../ledger/mod.ts";
import { join } from "node:path";
import { createRestApp } from "../api/mod.ts";
import { bindSite } from "../ledger/page/mod.ts";
import { openStore } from "../store/mod.ts";
import { isSecure, serve } from "../web/mod.ts";
import type { ProcessParts, RunningProcess } from "./_process.ts";

/** Pause between two times that this process verifies the whole chain by itself. */
const RECHECK_MS = 5 * 60_000;

/**
 * Serves the public ledger: everybody may read everything, and nothing can be written.
 *
 * @param port TCP port; 0 takes a free one
 */
export async function startLedger(
  { config, log, databaseUrl }: ProcessParts,
  port = config.settings.SEALOOP_LEDGER_PORT,
): Promise<RunningProcess & { readonly address: string }> {
  const { settings } = config;
  const store = openStore(databaseUrl("ledger"), "ledger");
  const chain = await watchChain(store, {
    recheckEveryMs: RECHECK_MS,
    markFile: join(config.dataDir, "verified.json"),
    onError: (err) => log.warn({ err }, "How far the chain is verified can't be kept or read"),
  });
  const ledgerUrl = settings.SEALOOP_LEDGER_URL ??
    `http://127.0.0.1:${port}`;
  const parts: LedgerParts = { store, chain, ledgerUrl };
  const invoke = publicInvoke(parts);
  const honest = sayingNothing(invoke);
  const app = createRestApp({
    operations: ledgerOperations,
    invoke: honest,
    routes(router) {
      bindSite(router, { call: asker(honest), ledgerUrl });
      bindLog(router, store);
      bindExportStream(router, store);
    },
    http: {
      log,
      trustedHops: settings.SEALOOP_TRUSTED_HOPS,
      secure: isSecure(settings),
      openCors: true,
      cacheReads: true,
    },
    info: {
      title: "sealoop public ledger",
      description: "Verify receipts, and the whole chain, without trusting us.",
      keys: false,
    },
  });
  const server = await serve(app, settings, port);
  return {
    address: server.address,
    async stop() {
      await server.close();
      await chain.close();
      await store.close();
    },
  };
}

/** Runs operations that everybody may call as often as they like, and that record nothing. */
function publicInvoke(parts: LedgerParts): Invoke<LedgerParts> {
  return async (operation, request) => {
    const { door, requestId, address, signal } = request;
    const caller: Caller = {
      keyId: null,
      tenant: "public",
      tier: "free",
      scope: "full",
      principal: "public",
      mayApprove: false,
      address,
    };
    const input = parseInput(operation.input, request.input);
    const context = { ...parts, caller, door, requestId, signal, progress() {} };
    return { output: await operation.run(input, context) };
  };
}

/** Lets the pages call operations by their names, in the way in which everybody does. */
function asker(invoke: Invoke<LedgerParts>) {
  return async (name: string, input: Readonly<Record<string, unknown>>) => {
    const operation = ledgerOperations.find((operation) => operation.name === name);
    if (!operation) throw new Problem("NotFound", `The ledger has no operation ${name}`);
    const { output } = await invoke(operation, {
      door: "rest",
      as: Object.keys(operation.rest ?? {})[0] ?? name,
      requestId: randomUUID(),
      credential: undefined,
      address: "page",
      input,
      signal: new AbortController().signal,
    });
    return output;
  };
}

/** While the database is away nobody can say whether the chain is intact, and each answer says so. */
function sayingNothing<C>(invoke: Invoke<C>): Invoke<C> {
  return async (operation, request) => {
    try {
      return await invoke(operation, request);
    } catch (error) {
      const { extra, message } = asProblem(error);
      if (!isDatabaseAway(extra.cause)) throw error;
      const body = { detail: message, chain_intact: null };
      throw new Problem("Unavailable", message, { ...extra, body });
    }
  };
}
