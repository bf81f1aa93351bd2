import assert from "node:assert/strict";
import { loadConfig } from "../../config.ts";
import {
  type IdentityTenant,
  type KeycloakClient,
  openIdentityProvider,
  openKeycloak,
} from "../../integrations/identity/mod.ts";
import { addRealm, fetchKeycloak, startKeycloak } from "./_keycloak.ts";
import { skipSuite } from "./_skip.ts";

const SECRET = "secret of: the+test";
const ACME: IdentityTenant = {
  id: "acme",
  name: "Acme Ltd",
  alias: null,
  domains: ["acme.example"],
};

describe("Keycloak itself", function () {
  this.timeout(600_000);
  let server: Awaited<ReturnType<typeof startKeycloak>> | undefined;
  const open = (secret = SECRET): KeycloakClient =>
    openKeycloak(loadConfig({
      SEALOOP_KEYCLOAK_URL: `${server!.url}/realms/our-realm`,
      SEALOOP_CREDENTIALS: JSON.stringify({ keycloak: secret }),
    }))!;
  const register = (tenant: IdentityTenant) => openIdentityProvider(open()).register(tenant);
  const organizations = async () => {
    const response = await server!.admin(
      "GET",
      "/our-realm/organizations?briefRepresentation=false",
    );
    return await response.json() as { id: string; [field: string]: unknown }[];
  };

  before(async function () {
    const fetched = await fetchKeycloak();
    if ("missing" in fetched) return skipSuite(this, fetched.missing);
    server = await startKeycloak(fetched.folder);
    await addRealm(server.admin, "our-realm", SECRET);
  });
  after(() => server?.close());

  it("gets one organization, however often and however many at once register it", async () => {
    const first = await Promise.all([register(ACME), register(ACME), register(ACME)]);
    const again = await register(ACME);
    const [made, ...others] = await organizations();
    assert.deepEqual(others, []);
    assert.deepEqual(made!.attributes, { sealoop_tenant: ["acme"] });
    for (const one of [...first, again]) assert.deepEqual(one, { outcome: "done", id: made!.id });
    assert.equal((await openIdentityProvider(open()).compare([ACME])).get("acme"), "current");
  });

  it("brings it up to date, and keeps what people have set there", async () => {
    const [made] = await organizations();
    const changed = {
      ...made,
      description: "Ours",
      attributes: { sealoop_tenant: ["acme"], plan: ["gold"] },
    };
    await server!.admin("PUT", `/our-realm/organizations/${made!.id}`, changed);
    const later = { ...ACME, name: "Acme GmbH", domains: ["acme.example", "acme.test"] };
    assert.equal((await openIdentityProvider(open()).compare([later])).get("acme"), "outdated");
    assert.deepEqual(await register(later), { outcome: "done", id: made!.id });
    const [now] = await organizations();
    assert.deepEqual([now!.name, now!.description, now!.attributes], [
      "Acme GmbH",
      "Ours",
      { sealoop_tenant: ["acme"], plan: ["gold"] },
    ]);
    assert.equal((now!.domains as unknown[]).length, 2);
  });

  it("does nothing where a domain is another organization's", async () => {
    const result = await register({ ...ACME, id: "rival", name: "Rival" });
    assert.equal(result.outcome, "not_done");
    assert.equal((await organizations()).length, 1);
  });

  it("shows what administrators have done, without what they sent", async () => {
    assert.equal(await open().keepsEvents(), true);
    const events = await open().listEvents();
    const made = events.find(({ operation, resource }) =>
      operation === "CREATE" && resource === "ORGANIZATION"
    );
    assert.match(made!.path!, /^organizations\/[\w-]+$/);
    assert.doesNotMatch(JSON.stringify(events), /acme\.example|127\.0\.0\.1/);
  });

  it("refuses another secret", async () => {
    await assert.rejects(open("wrong").keepsEvents(), /does not accept our credential \(401\)/);
  });
});
