import assert from "node:assert/strict";
import { loadConfig } from "../../config.ts";
import { type MeshClient, openMeshCentral } from "../../integrations/mesh/mod.ts";
import { installNpm } from "../_download.ts";
import { testFolder } from "../_run.ts";
import { command, DEVICE, PASSWORD, startMeshCentral, USER } from "./_meshcentral.ts";
import { skipSuite } from "./_skip.ts";

describe("MeshCentral", function () {
  this.timeout(300_000);
  let server: Awaited<ReturnType<typeof startMeshCentral>> | undefined;

  const open = (user = USER, password = PASSWORD): MeshClient =>
    openMeshCentral(loadConfig({
      SEALOOP_MESHCENTRAL_URL: server!.url,
      SEALOOP_MESHCENTRAL_USER: user,
      SEALOOP_CREDENTIALS: JSON.stringify({ meshcentral: password }),
    }))!;

  before(async function () {
    const installed = await installNpm("meshcentral");
    if ("missing" in installed) return skipSuite(this, installed.missing);
    server = await startMeshCentral(installed.folder, await testFolder());
  });
  after(() => server?.close());

  it("lists the devices of the groups that the account sees, and whether it is connected with them", async () => {
    assert.deepEqual(await open().listDevices(), [
      { id: DEVICE, name: "web-1", address: "192.0.2.7", isConnected: false },
    ]);
  });

  it("accepts a login token in the place of an account", async () => {
    const made = await command(server!.url, { action: "createLoginToken", name: "t", expire: 0 });
    const { tokenUser, tokenPass } = made as { tokenUser: string; tokenPass: string };
    assert.match(tokenUser, /^~t:/);
    assert.equal((await open(tokenUser, tokenPass).listDevices()).length, 1);
  });

  it("refuses another password", async () => {
    await assert.rejects(open(USER, "wrong").listDevices(), (error: Error) => {
      assert.match(error.message, /^MeshCentral does not accept our credential/);
      return true;
    });
  });
});
