import { join } from "node:path";
import { type ClassifyReport, createEngineApp, createReportClassifier, type KnowledgeBase, loadEngineSecret, openClassifier, openKnowledgeBase, openModel, openWriter } from "../engine/mod.ts";
import { followPolicyFile, openGuard } from "../guard/mod.ts";
import { openStore } from "../store/mod.ts";
import { isSecure, serve } from "../web/mod.ts";
import { type Parts, type Running, runProcess, SUPERVISED } from "./_process.ts";

await runProcess("engine", startEngine);

/**
 * Serves judgement to the other processes. It listens at once, and says that it is not ready until it has learnt what
 * ships with the product: the first time that takes seconds of a core, which the others need to start.
 */
async function startEngine({ config, log, databaseUrl }: Parts): Promise<Running> {
  const { settings, dataDir } = config;
  const store = openStore(databaseUrl("app"), "app", 10);
  const model = openModel(settings);
  let classify: ClassifyReport | undefined;
  let knowledge: KnowledgeBase | undefined;
  const app = createEngineApp({
    secret: settings.SEALOOP_ENGINE_SECRET ?? loadEngineSecret(dataDir),
    http: { log, trustedHops: 0, secure: isSecure(settings) },
    guard: openGuard({ store }),
    classify: () => classify,
    write: openWriter({ asking: model && { model, ms: settings.SEALOOP_MODEL_WRITE_MS }, log }),
  });
  const server = await serve(app, reach(settings), settings.SEALOOP_ENGINE_PORT);
  const timer = setTimeout(async () => {
    const classifier = await openClassifier();
    knowledge = openKnowledgeBase({ store, classifier, log });
    await knowledge.stored; // or the guardrails would find nothing of what is cited
    const asking = model && { model, ms: settings.SEALOOP_MODEL_MS };
    classify = createReportClassifier({ classifier, knowledge, asking, log });
    log.info("the classifier is ready");
  });
  const following = followPolicyFile(policyFile(config), store, log);
  return {
    address: server.address,
    async stop() {
      (await following).stop();
      clearTimeout(timer);
      await server.close();
      await knowledge?.close();
      await store.close();
    },
  };
}

/** Started together with those who ask it, it is for this machine alone. */
function reach(settings: Parts["config"]["settings"]): Parts["config"]["settings"] {
  if (!process.argv.includes(SUPERVISED)) return settings;
  return {
    ...settings,
    SEALOOP_BIND: "127.0.0.1",
    SEALOOP_TLS_CERT: undefined,
    SEALOOP_TLS_KEY: undefined,
  };
}

/** The policy's file: named by the settings, or in the data folder. */
function policyFile({ settings, dataDir }: Parts["config"]): string {
  return settings.SEALOOP_POLICY ?? join(dataDir, "sealoop.policy.yaml");
}
