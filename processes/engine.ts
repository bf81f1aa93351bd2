import type { Settings } from "../config.ts";
import {
  type ClassifyReport,
  createEngineApp,
  createReportClassifier,
  type KnowledgeBase,
  loadEngineSecret,
  openClassifier,
  openKnowledgeBase,
  openModel,
  openWriter,
} from "../judgement/engine/mod.ts";
import { followPolicyFile, openGuard } from "../judgement/guard/mod.ts";
import { requireReady } from "../store/mod.ts";
import { isSecure, serve, serverNames } from "../runtime/web/mod.ts";
import { checkDatabase } from "./_check_database.ts";
import { openProcessStore } from "./_open_store.ts";
import { type PresentParts, type RunningProcess, runProcess, SUPERVISED } from "./_process.ts";
import { openRetry } from "./_retry.ts";
import { requireSharedSecrets } from "./_shared_secrets.ts";

await runProcess("engine", startEngine);

/** Serves judgement to the other processes. It listens at once, and answers "not ready" until its classifier is loaded. */
async function startEngine(parts: PresentParts): Promise<RunningProcess> {
  const { config, log, databaseUrl, presence } = parts;
  const { settings } = config;
  presence.begin("engine", { role: "engine", url: databaseUrl("engine") });
  const classifierLoad = "its classifier, which is being loaded";
  presence.waitFor(classifierLoad, "classifier");
  const store = openProcessStore(parts, "engine");
  const model = openModel(settings);
  let classify: ClassifyReport | undefined;
  let knowledge: KnowledgeBase | undefined;
  const app = createEngineApp({
    secret: loadEngineSecret(config),
    http: {
      log,
      trustedHops: 0,
      secure: isSecure(settings),
      names: serverNames(settings, [settings.SEALOOP_ENGINE_URL]),
    },
    guard: openGuard({ store }),
    classify: () => classify,
    knowledge: () => knowledge,
    checkReady: () => requireReady(store),
    write: openWriter({ asking: model && { model, ms: settings.SEALOOP_MODEL_WRITE_MS }, log }),
  });
  const server = await serve(app, bindSettings(settings), settings.SEALOOP_ENGINE_PORT);
  const loading = setTimeout(async () => {
    const classifier = await openClassifier();
    knowledge = openKnowledgeBase({ store, classifier, log });
    await knowledge.stored; // the guardrails look citations up there
    const asking = model && { model, ms: settings.SEALOOP_MODEL_MS };
    classify = createReportClassifier({ classifier, knowledge, asking, log });
    presence.waitFor(null);
    log.info("the classifier is ready");
  });
  // Reports are judged from memory meanwhile.
  const retry = openRetry(
    log,
    (server, code) =>
      server === null && !classify
        ? presence.waitFor(classifierLoad, "classifier")
        : presence.waitFor(server, code),
  );
  await retry("PostgreSQL", () => checkDatabase(store));
  await requireSharedSecrets(store, config, ["engine"]);
  const policy = await followPolicyFile({ config, store, log });
  return {
    address: server.address,
    retire: server.retire,
    async stop() {
      policy.stop();
      clearTimeout(loading);
      await server.close();
      await knowledge?.close();
      await store.close();
    },
  };
}

/** Returns the settings of the server. Started by the supervisor, the engine serves this machine alone. */
function bindSettings(settings: Settings): Settings {
  if (!process.argv.includes(SUPERVISED)) return settings;
  return {
    ...settings,
    SEALOOP_BIND: "127.0.0.1",
    SEALOOP_TLS_CERT: undefined,
    SEALOOP_TLS_KEY: undefined,
  };
}
