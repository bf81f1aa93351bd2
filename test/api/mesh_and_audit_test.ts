/** Mesh and audit in their remote forms, against servers that speak as MeshCentral and Keycloak do. */
import assert from "node:assert/strict";
import { answerAsKeycloak } from "../integrations/remote/_identity.ts";
import { type HostileServer, SECRET, startHostileServer } from "../integrations/remote/_hostile.ts";
import { MESH_USER, startMeshStub } from "../integrations/remote/_mesh.ts";
import { openOutside } from "../../integrations/outside/mod.ts";
import { readViews, startGateway, type TestGateway } from "./_gateway.ts";

describe("mesh and audit in their remote forms", () => {
  let server: HostileServer;
  let keycloak: ReturnType<typeof answerAsKeycloak>;
  let mesh: Awaited<ReturnType<typeof startMeshStub>>;
  let gateway: TestGateway;
  let key: string;
  let stranger: string;
  before(async () => {
    server = await startHostileServer();
    keycloak = answerAsKeycloak(server);
    mesh = await startMeshStub();
    gateway = await startGateway({
      settings: {
        SEALOOP_KEYCLOAK_URL: `${server.url}/realms/acme`,
        SEALOOP_MESHCENTRAL_URL: mesh.url,
        SEALOOP_MESHCENTRAL_USER: MESH_USER,
        SEALOOP_CREDENTIALS: JSON.stringify({ keycloak: SECRET, meshcentral: SECRET }),
      },
    });
    key = await gateway.key();
    stranger = await gateway.key({ tenant: "another" });
  });
  after(async () => {
    await gateway?.stop();
    mesh?.close();
    server.close();
  });

  const get = async (path: string, credential = key) =>
    (await gateway.call(credential, "GET", `/v1/integrations/${path}`)).body;

  it("show in the views what the systems have", async () => {
    const { integrations } = await readViews(get);
    const told = Object.fromEntries(
      integrations.map((one: Record<string, string>) => [
        one.integration,
        `${one.mode} ${one.status}: ${one.detail}`,
      ]),
    );
    assert.equal(told.mesh, "remote degraded: MeshCentral is connected with 1 of 2 devices");
    assert.match(told.audit, /^remote .*receipts.*; Keycloak keeps admin events and accepts our/);
  });

  it("count MeshCentral's devices for the operator's keys alone", async () => {
    const own = await get("mesh/stats");
    assert.deepEqual([own.mode, own.peers, own.links, own.reachable], ["remote", 2, 2, 1]);
    const theirs = await get("mesh/stats", stranger);
    assert.deepEqual([theirs.mode, theirs.peers], ["built_in", 0]);
    const response = await fetch(`${gateway.url}/v1/integrations/mesh/stats`);
    assert.equal((await response.json() as { peers: number }).peers, 0, "nobody without a key");
  });

  it("show Keycloak's events to the operator's keys alone, without what was sent", async () => {
    const { trails, keycloak_events } = await get("audit/trails");
    assert.deepEqual(trails.at(-1), {
      trail: "keycloak_admin_events",
      entries: null,
      newest_at: "2026-07-01T12:00:00.000Z",
      read_with: "keycloak_events, and Keycloak's admin console",
    });
    assert.equal(keycloak_events[0].path, "users/0c1d");
    assert.doesNotMatch(JSON.stringify(keycloak_events), /hunter2|192\.0\.2/);
    const theirs = await get("audit/trails", stranger);
    assert.deepEqual([theirs.trails.length, theirs.keycloak_events], [2, []]);
  });

  it("name the hosts to admins, and the credentials to nobody", async () => {
    const admin = await gateway.key({ tier: "admin" });
    const { body } = await gateway.call(admin, "GET", "/v1/admin/integrations");
    for (const [name, url] of [["audit", server.url], ["mesh", mesh.url]]) {
      const one = body.integrations.find((it: Record<string, string>) => it.integration === name);
      assert.deepEqual([one.host, one.credential_set], [new URL(url!).host, true]);
    }
    assert.doesNotMatch(JSON.stringify(body), new RegExp(SECRET));
  });

  it("go on with the platform's own forms while the systems are away", async () => {
    keycloak.before = (_, response) => {
      response.writeHead(500).end(SECRET);
      return true;
    };
    mesh.goAway();
    const { mesh: meshCentral, audit } = openOutside(gateway.platform.config); // without an earlier answer
    await assert.rejects(meshCentral!.listDevices(), /MeshCentral can't be reached/);
    await assert.rejects(audit!.listEvents(), /Keycloak answered 500/);
    await assert.rejects(gateway.platform.outside.audit!.keepsEvents(), /Keycloak answered 500/);
    const { trails } = await get("audit/trails");
    assert.equal(trails[0].trail, "ledger");
    assert.doesNotMatch(gateway.log(), new RegExp(SECRET));
  });
});
