import {
  createEngineApp,
  type Judge,
  judgeBy,
  openClassifier,
  sharedSecret,
} from "../engine/mod.ts";
import { openGuard } from "../engine/guard/mod.ts";
import { openStore } from "../store/mod.ts";
import { isSecure, serve } from "../web/mod.ts";
import { type Parts, type Running, runProcess, SUPERVISED } from "./_process.ts";

await runProcess("engine", startEngine);

/**
 * Serves judgement to the other processes. It listens at once, and answers that it is not ready until it has learnt what
 * it knows, as that takes seconds of a core which the others need to start.
 */
async function startEngine({ config, log, databaseUrl }: Parts): Promise<Running> {
  const { settings, dataDir } = config;
  const store = openStore(databaseUrl("app"), "app", 10);
  let judge: Judge | undefined;
  const app = createEngineApp({
    secret: settings.SEALOOP_ENGINE_SECRET ?? sharedSecret(dataDir),
    shell: { log, trustedHops: 0, secure: isSecure(settings) },
    classify: () => judge,
    guard: openGuard({ store }),
  });
  const server = await serve(app, own(settings), settings.SEALOOP_ENGINE_PORT);
  const timer = setTimeout(async () => {
    judge = judgeBy(await openClassifier());
    log.info("the classifier is ready");
  });
  return {
    address: server.address,
    async stop() {
      clearTimeout(timer);
      await server.close();
      await store.close();
    },
  };
}

/** Started together with those who ask it, it is for this machine alone. */
function own(settings: Parts["config"]["settings"]): Parts["config"]["settings"] {
  if (!process.argv.includes(SUPERVISED)) return settings;
  return {
    ...settings,
    SEALOOP_BIND: "127.0.0.1",
    SEALOOP_TLS_CERT: undefined,
    SEALOOP_TLS_KEY: undefined,
  };
}
