/** Keycloak as the identity provider; `test/remote/` asks a real one. */
import assert from "node:assert/strict";
import { loadConfig } from "../../config.ts";
import {
  type IdentityProvider,
  type IdentityTenant,
  openIdentityProvider,
  openKeycloak,
} from "../../integrations/identity/mod.ts";
import { answerAsKeycloak } from "./remote/_identity.ts";
import { HOSTILE, type HostileServer, SECRET, startHostileServer } from "./remote/_hostile.ts";

const ACME: IdentityTenant = {
  id: "acme",
  name: "Acme Ltd",
  alias: null,
  domains: ["acme.example"],
};

describe("Keycloak", () => {
  let server: HostileServer;
  let keycloak: ReturnType<typeof answerAsKeycloak>;
  const open = () =>
    openKeycloak(loadConfig({
      SEALOOP_KEYCLOAK_URL: `${server.url}/realms/acme`,
      SEALOOP_CREDENTIALS: JSON.stringify({ keycloak: SECRET }),
    }))!;
  const provider = (): IdentityProvider => openIdentityProvider(open());
  const posts = () => keycloak.requests.filter((one) => one.startsWith("POST")).length;

  before(async () => {
    server = await startHostileServer();
  });
  beforeEach(() => {
    keycloak = answerAsKeycloak(server);
  });
  after(() => server.close());

  it("gets one organization for a tenant, however often it is registered", async () => {
    const first = await provider().register(ACME);
    assert.deepEqual(first, { outcome: "done", id: "org-1" });
    const again = await Promise.all(Array.from({ length: 5 }, () => provider().register(ACME)));
    assert.ok(again.every((one) => one.outcome === "done" && one.id === "org-1"));
    const [made, ...others] = keycloak.organizations;
    assert.deepEqual([made!.alias, made!.attributes, others], ["acme", {
      sealoop_tenant: ["acme"],
    }, []]);
  });

  it("gets one organization where two register a tenant at the same time", async () => {
    const both = await Promise.all([provider().register(ACME), provider().register(ACME)]);
    assert.deepEqual(both.map(({ outcome }) => outcome), ["done", "done"]);
    assert.equal(keycloak.organizations.length, 1);
  });

  it("is asked after an act whose answer was lost, so that it is done", async () => {
    keycloak.afterAdding = (_, response) => {
      response.destroy();
      return true;
    };
    assert.deepEqual(await provider().register(ACME), { outcome: "done", id: "org-1" });
    assert.equal(posts(), 1);
  });

  it("leaves unknown what may have been done and is not shown", async () => {
    keycloak.before = (request, response) => {
      if (request.method === "POST") response.destroy();
      return request.method === "POST";
    };
    const { outcome } = await provider().register(ACME);
    assert.equal(outcome, "unknown");
    assert.equal(posts(), 1, "one attempt");
  });

  it("does nothing where its name is another organization's", async () => {
    await provider().register({ ...ACME, id: "other", alias: "other" });
    const result = await provider().register(ACME);
    assert.equal(result.outcome, "not_done");
    assert.match(JSON.stringify(result), /Keycloak answered 409: another organization may have/);
    assert.deepEqual(keycloak.organizations[0]!.attributes, { sealoop_tenant: ["other"] });
  });

  it("does nothing where several organizations carry the tenant's id", async () => {
    await provider().register(ACME);
    const copy = { ...keycloak.organizations[0]!, id: "org-2", name: "Copy", alias: "copy" };
    keycloak.organizations.push(copy);
    const result = await provider().register({ ...ACME, name: "New" });
    assert.deepEqual([result.outcome, keycloak.organizations.length], ["not_done", 2]);
    assert.equal((await provider().compare([ACME])).get("acme"), "ambiguous");
  });

  it("is brought up to date, and keeps what we don't know", async () => {
    await provider().register(ACME);
    Object.assign(keycloak.organizations[0]!, {
      description: "Ours",
      domains: [{ name: "old.example", verified: true }],
      attributes: { sealoop_tenant: ["acme"], plan: ["gold"] },
    });
    assert.equal((await provider().compare([ACME])).get("acme"), "outdated");
    assert.equal((await provider().register(ACME)).outcome, "done");
    const [changed] = keycloak.organizations;
    assert.deepEqual([changed!.description, changed!.attributes.plan, changed!.domains], [
      "Ours",
      ["gold"],
      [{ name: "old.example", verified: true }, { name: "acme.example", verified: false }],
    ]);
    assert.equal((await provider().compare([ACME])).get("acme"), "current");
  });

  it("compares all tenants, over pages", async () => {
    for (let n = 0; n < 250; n++) {
      await provider().register({ id: `t${n}`, name: `T ${n}`, alias: null, domains: [] });
    }
    const tenants = [ACME, { id: "t249", name: "T 249", alias: null, domains: [] }];
    assert.deepEqual([...await provider().compare(tenants)], [
      ["acme", "missing"],
      ["t249", "current"],
    ]);
  });

  it("asks for another token when one is not accepted any more", async () => {
    const client = open();
    let refused = false;
    keycloak.before = (_, response) => {
      if (refused) return false;
      refused = true;
      response.writeHead(401).end();
      return true;
    };
    await assert.rejects(client.keepsEvents(), /does not accept our credential/);
    assert.equal(await client.keepsEvents(), true);
  });

  for (const { name, respond } of HOSTILE) {
    it(`registers nothing, and tells no secret, on ${name}`, async () => {
      keycloak.before = (_, response) => {
        respond(response);
        return true;
      };
      const result = await provider().register(ACME);
      assert.equal(result.outcome, "not_done", "the look-up before fails, so that nothing is sent");
      assert.equal(posts(), 0);
      assert.doesNotMatch(JSON.stringify(result), new RegExp(`${SECRET}|127\\.0\\.0\\.1`));
    });
  }

  for (const { name, outcome, isBody, respond } of HOSTILE) {
    it(`acts once, on ${name} of the act itself`, async () => {
      keycloak.before = (request, response) => {
        if (request.method === "POST") respond(response);
        return request.method === "POST";
      };
      const result = await provider().register(ACME);
      // A success whose body is wrong is none until it is shown.
      assert.equal(result.outcome, isBody ? "unknown" : outcome);
      assert.equal(posts(), 1);
    });
  }

  it("shows admin events without what was sent and from where", async () => {
    const events = await open().listEvents();
    assert.deepEqual(events, [{
      id: "c027e617-1474-4e06-a015-48dc0996914e",
      at: "2026-07-01T12:00:00.000Z",
      operation: "UPDATE",
      resource: "USER",
      path: "users/0c1d",
      userId: "457934af-e4fd-4615-8d0f-85d728fa5747",
      error: null,
    }]);
  });
});
