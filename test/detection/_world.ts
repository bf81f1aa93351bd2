/** What detectors look at in a test: a database of its own, and settings as a file has them. */
import { writeFile } from "node:fs/promises";
import { openDetectionContext, type DetectionContext } from "../../detection/mod.ts";
import { join } from "node:path";
import { loadConfig } from "../../config.ts";
import { openStore } from "../../store/mod.ts";
import { testDatabase, testFolder } from "../_servers.ts";

/** A world of a test. */
export interface TestWorld extends DetectionContext {
  readonly folder: string;
  /** Database, as role `sequencer`. */
  readonly sequencerUrl: string;
  /** The same with other settings. @param yaml as the file has it */
  with(yaml: string): Promise<DetectionContext>;
  close(): Promise<void>;
}

/** Makes such a world. Only the blocks that `yaml` has are on. */
export async function testWorld(yaml: string): Promise<TestWorld> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const path = join(folder, "sealoop.detectors.yaml");
  const config = loadConfig({ SEALOOP_DATA: folder });
  const store = openStore(database.urls.app, "app", 4);
  const temporal = () => Promise.reject(new Error("There is no Temporal here"));
  const withSettings = async (text: string) => {
    const off = ["service_probes", "host_resources", "logs", "certificates", "platform"]
      .filter((name) => !new RegExp(`^${name}:`, "m").test(text))
      .map((name) => `${name}: { enabled: false }\n`);
    await writeFile(path, text + "\n" + off.join(""));
    return openDetectionContext({ config, store, temporal });
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
