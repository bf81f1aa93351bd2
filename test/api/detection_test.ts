import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DETECTORS } from "../../contract/domain/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";
import { asSuperuser } from "../_superuser.ts";

const QUIET = ["host_resources", "logs", "certificates", "platform"]
  .map((name) => `${name}: { enabled: false }\n`).join("");

describe("detection over REST", () => {
  let gateway: TestGateway;
  let file: string;
  before(async () => {
    file = join(await testFolder(), "detectors.yaml");
    await writeFile(file, QUIET);
    gateway = await startGateway({ settings: { SEALOOP_DETECTORS: file } });
    for (const [name, needs] of [["database", []], ["shop", ["database"]]] as const) {
      await putService(asSuperuser(gateway.platform.store), {
        name,
        type: "web",
        host: "localhost",
        owner: null,
        origin: "file",
        restart: null,
        check: { tcp: `127.0.0.1:${await freePort()}` },
        watched: true,
        dependsOn: needs.map((service) => ({ service, kind: "depends_on" })),
      });
    }
  });
  after(() => gateway?.stop());

  // deno-lint-ignore no-explicit-any -- a body whose fields the assertions look at
  async function call(method: string, path: string): Promise<{ status: number; body: any }> {
    const key = await gateway.key();
    const response = await fetch(gateway.url + path, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: method === "POST" ? "{}" : undefined,
    });
    return { status: response.status, body: await response.json() };
  }

  it("gives raw findings with their evidence, and which of them are one incident, without tickets", async () => {
    const { status, body } = await call("POST", "/v1/itsm/detect");
    assert.equal(status, 200);
    assert.equal(body.findings.length, 2);
    assert.equal(body.incidents.length, 1);
    const [{ service, related }] = body.incidents;
    assert.deepEqual([service, related[0].service], ["database", "shop"]);
    const found = body.findings.find((one: { service: string }) => one.service === "shop");
    assert.equal(found.summary, "shop fails its tcp check (refused)");
    assert.equal(found.target, undefined, "what is looked at again is ours");
    const db = gateway.platform.store.asPlatform();
    for (const table of ["tickets", "findings", "probe_history"]) {
      assert.deepEqual(await db.query(`SELECT FROM ${table}`), [], table);
    }
  });

  it("says of each of the five detectors its state, its configuration, and how its last run went", async () => {
    const { body } = await call("GET", "/v1/itsm/detectors");
    const states: readonly { detector: string; state: string }[] = body.detectors;
    assert.deepEqual(
      states.map(({ detector, state }) => [detector, state]),
      DETECTORS.map((name) => [name, name === "service_probes" ? "ok" : "off"]),
    );
    const [{ configuration, probed, findings, last_run_at, error }] = body.detectors;
    assert.equal(configuration.timeout_ms, 2_000);
    assert.deepEqual([probed, findings, error], [2, 2, null]);
    assert.ok(Date.now() - Date.parse(last_run_at) < 180_000);
  });

  it("says what a detector can't see", async () => {
    await writeFile(
      file,
      `${
        QUIET.replace("logs: { enabled: false }\n", "")
      }logs: { files: [{ path: /nowhere/at.all }] }\n`,
    );
    const looked = await call("POST", "/v1/itsm/detect");
    assert.equal(looked.body.detectors[2].error, "log_enoent");
    const { body } = await call("GET", "/v1/itsm/detectors");
    assert.deepEqual([body.detectors[2].state, body.detectors[2].error], ["failing", "log_enoent"]);
  });

  it("says at which line the file is wrong, and not where it is", async () => {
    await writeFile(file, `${QUIET}service_probes:\n  timeout: 3\n`);
    const { status, body } = await call("POST", "/v1/itsm/detect");
    assert.equal(status, 503);
    assert.match(
      body.detail,
      /line 6: service_probes\.timeout: unknown field; did you mean timeout_ms/,
    );
    assert.doesNotMatch(body.detail, /detectors\.yaml/);
    await writeFile(file, QUIET);
  });
});
