/** Services that are watched by alerts alone. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Service } from "../../integrations/host/mod.ts";
import type { Store } from "../../store/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { TEST_DETECTORS, testFolder } from "../_run.ts";

/** Alerts named `ShopDown` are of the service that their label `job` names, and are silenced. */
export const SHOP_RULES = `alerts:
  silence: true
  resolve_seconds: 10
  rules:
    - { match: { alertname: ShopDown }, service_label: job, code: down }
`;

/** Writes the detectors of the tests with rules for alerts. @returns the file's path */
export async function writeAlertRules(rules: string): Promise<string> {
  const file = join(await testFolder(), "detectors.yaml");
  await writeFile(file, await readFile(TEST_DETECTORS, "utf8") + rules);
  return file;
}

/** Adds a watched service without a health check. */
export async function putAlertedService(
  store: Store,
  name: string,
  restart: Service["restart"] = { command: ["true"] },
): Promise<void> {
  await putService(store.asPlatform(), {
    name,
    type: "web",
    host: "localhost",
    owner: null,
    origin: "file",
    check: null,
    restart,
    watched: true,
    dependsOn: [],
  });
}
