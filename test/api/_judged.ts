/** A gateway of a test with the engine that judges for it, in its own process, and a sequencer that seals what it does. */
import { join } from "node:path";
import { findReceipt, runSequencer } from "../../ledger/mod.ts";
import { openStore } from "../../store/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { startEngine, type TestEngine } from "../judgement/engine/_engine.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

const SECRET = "a secret of a test, of more than 32 characters";

/** Such a gateway. */
export interface JudgedGateway extends TestGateway {
  readonly engine: TestEngine;
  post(path: string, body: unknown, key?: string): Promise<Response>;
  /** A receipt, once it is sealed. */
  sealed(id: string): Promise<Record<string, unknown>>;
}

/** Starts one. @param settings by the names of environment variables, for gateway and engine */
export async function startJudgedGateway(
  settings: Readonly<Record<string, string>> = {},
): Promise<JudgedGateway> {
  const shared = {
    ...settings,
    SEALOOP_ENGINE_SECRET: SECRET,
    SEALOOP_ENGINE_PORT: String(await freePort()),
  };
  const gateway = await startGateway({ settings: shared });
  const engine = await startEngine(gateway.urls.engine, shared);
  // What a busy machine takes longer for than the platform waits, it still does.
  Object.assign(gateway.platform.engine, engine.client);
  const sequencer = openStore(gateway.urls.sequencer, "sequencer");
  const stopping = new AbortController();
  const keyFile = join(await testFolder(), "ledger.key");
  const sealing = runSequencer({ store: sequencer, keyFile, signal: stopping.signal });
  sealing.catch(() => {});
  return {
    ...gateway,
    engine,
    post: (path, body, key) =>
      fetch(gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...key ? { "x-api-key": key } : {} },
        body: JSON.stringify(body),
      }),
    async sealed(id) {
      await gateway.platform.sealer.sealed(id);
      return JSON.parse((await findReceipt(gateway.platform.store, id)).text);
    },
    async stop() {
      stopping.abort();
      await engine.kill();
      await Promise.allSettled([sealing]);
      await sequencer.close();
      await gateway.stop();
    },
  };
}
