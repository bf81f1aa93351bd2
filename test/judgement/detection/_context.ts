/** Surroundings of the detectors for tests: a database, and settings as a file has them. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "../../../config.ts";
import { type DetectionContext, openDetectionContext } from "../../../judgement/detection/mod.ts";
import { DETECTORS } from "../../../contract/domain/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { testFolder } from "../../_run.ts";
import { testDatabase } from "../../_servers.ts";

/** Time limit of each detector in tests. The platform's own is eight seconds, which a busy machine may exceed. */
const TIMEOUT_MS = 120_000;

/** Surroundings of a test. */
export interface TestContext extends DetectionContext {
  readonly folder: string;
  /** URL of the database as role `sequencer`. */
  readonly sequencerUrl: string;
  /** Returns the same with other settings. @param yaml as the file has it */
  with(yaml: string): Promise<DetectionContext>;
  close(): Promise<void>;
}

/** Opens the surroundings of a test. Only the detectors whose blocks `yaml` has are enabled. */
export async function createTestContext(yaml: string): Promise<TestContext> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const path = join(folder, "sealoop.detectors.yaml");
  const config = loadConfig({ SEALOOP_DATA: folder });
  const store = openStore(database.urls.worker, "worker", 4);
  const temporal = () => Promise.reject(new Error("There is no Temporal here"));
  const withSettings = async (text: string) => {
    const disabled = DETECTORS.filter((name) => !new RegExp(`^${name}:`, "m").test(text))
      .map((name) => `${name}: { enabled: false }\n`);
    await writeFile(path, text + "\n" + disabled.join(""));
    return { ...openDetectionContext({ config, store, temporal }), timeoutMs: TIMEOUT_MS };
  };
  return {
    ...await withSettings(yaml),
    folder,
    sequencerUrl: database.urls.sequencer,
    with: withSettings,
    async close() {
      await store.close();
      await database.drop();
    },
  };
}
