/** Keycloak from its Maven package, run on loopback with a database in memory. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Download, unpackMaven } from "../_download.ts";
import { freePort } from "../_run.ts";

const run = promisify(execFile);
const ARTIFACT = "org.keycloak:keycloak-quarkus-dist:26.3.5:tar.gz";
const SHA256 = "3b662719e20cd87e7dbb913a85870efba49652852a08b4821cb78f24a3288918";
const MIN_JAVA = 17;
const KEY_PROVIDER = "org.keycloak.keys.KeyProvider";
const ADMIN = { client_id: "admin-of-the-test", client_secret: "secret-of-the-admin" };

/** Unpacks Keycloak once. @returns its folder, or the reason why it can't be run here */
export async function fetchKeycloak(): Promise<Download> {
  try {
    const { stderr } = await run("java", ["-version"]);
    const version = Number(/version "(\d+)/.exec(stderr)?.[1]);
    if (!(version >= MIN_JAVA)) {
      return { missing: `Keycloak needs Java ${MIN_JAVA}, and here is ${version}` };
    }
  } catch {
    return { missing: `Keycloak needs Java ${MIN_JAVA}, and there is no java here` };
  }
  return await unpackMaven(
    ARTIFACT,
    SHA256,
    (folder) => run(join(folder, "bin", "kc.sh"), ["build", "--db=dev-mem"]),
  );
}

/** A request to Keycloak's admin API as its administrator. */
export type Admin = (method: string, path: string, body?: unknown) => Promise<Response>;

/** Starts Keycloak. Nothing that it keeps outlives it. @param folder that it is unpacked in */
export async function startKeycloak(folder: string) {
  const [port, management] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(join(folder, "bin", "kc.sh"), [
    "start",
    "--optimized",
    "--http-enabled=true",
    "--hostname-strict=false",
    "--http-host=127.0.0.1",
    `--http-port=${port}`,
    "--http-management-host=127.0.0.1",
    `--http-management-port=${management}`,
    "--cache=local",
  ], {
    stdio: "ignore",
    env: {
      ...process.env,
      JAVA_OPTS_APPEND: "-Xmx512m",
      KC_BOOTSTRAP_ADMIN_CLIENT_ID: ADMIN.client_id,
      KC_BOOTSTRAP_ADMIN_CLIENT_SECRET: ADMIN.client_secret,
    },
  });
  const ended = once(server, "exit");
  const masterRealm = `${url}/realms/master`;
  for (let n = 0; n < 1_200; n++) {
    if (server.exitCode !== null) throw new Error(`Keycloak ended with ${server.exitCode}`);
    if (await fetch(masterRealm).then(({ ok }) => ok, () => false)) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const admin: Admin = async (method, path, body) => {
    const login = await fetch(`${masterRealm}/protocol/openid-connect/token`, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "client_credentials", ...ADMIN }),
    });
    const { access_token } = await login.json() as { access_token: string };
    const response = await fetch(`${url}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${access_token}`, "content-type": "application/json" },
      ...body === undefined ? {} : { body: JSON.stringify(body) },
    });
    if (response.ok) return response;
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  };
  return {
    url,
    admin,
    async close() {
      server.kill();
      await ended;
    },
  };
}

/** Makes a realm with our client, which has the rights that `docs/integrations.md` names. */
export async function addRealm(admin: Admin, realm: string, secret: string): Promise<void> {
  await admin("POST", "", {
    realm,
    enabled: true,
    organizationsEnabled: true,
    adminEventsEnabled: true,
    adminEventsDetailsEnabled: true,
    clients: [{
      clientId: "sealoop",
      secret,
      serviceAccountsEnabled: true,
      standardFlowEnabled: false,
      publicClient: false,
    }],
    users: [{
      username: "service-account-sealoop",
      enabled: true,
      serviceAccountClientId: "sealoop",
      clientRoles: { "realm-management": ["manage-realm", "view-events"] },
    }],
  });
}

/** Names the groups of people in tokens. */
const GROUPS = {
  name: "groups",
  protocol: "openid-connect",
  protocolMapper: "oidc-group-membership-mapper",
  config: {
    "claim.name": "groups",
    "full.path": "false",
    "id.token.claim": "true",
    "access.token.claim": "true",
  },
};

/** Somebody with an account in a realm. */
export interface KeycloakUser {
  readonly name: string;
  readonly password: string;
  readonly group: string;
}

/** Makes a realm whose people sign in to a client, as `docs/console.md` says. */
export async function addPeopleRealm(
  admin: Admin,
  realm: string,
  client: { readonly id: string; readonly secret: string; readonly origin: string },
  users: readonly KeycloakUser[],
): Promise<void> {
  await admin("POST", "", {
    realm,
    enabled: true,
    sslRequired: "none",
    groups: [...new Set(users.map(({ group }) => group))].map((name) => ({ name })),
    clients: [{
      clientId: client.id,
      secret: client.secret,
      publicClient: false,
      standardFlowEnabled: true,
      redirectUris: [`${client.origin}/console/sign-in/answer`],
      attributes: { "post.logout.redirect.uris": `${client.origin}/console/sign-in` },
      protocolMappers: [GROUPS],
    }],
    users: users.map(({ name, password, group }) => ({
      username: name,
      enabled: true,
      email: `${name}@acme.example`,
      firstName: name,
      lastName: name,
      groups: [group],
      credentials: [{ type: "password", value: password, temporary: false }],
    })),
  });
}

/** Lets programs get access tokens for a tool server, by a public client `agent`, as `docs/mcp.md` says. */
export async function addAgentClient(
  admin: Admin,
  realm: string,
  resource: string,
): Promise<void> {
  const protocol = "openid-connect";
  const scopes = ["sealoop:audit", "sealoop:full"];
  for (const name of scopes) {
    await admin("POST", `/${realm}/client-scopes`, {
      name,
      protocol,
      attributes: { "include.in.token.scope": "true" },
      protocolMappers: [{
        name: "audience",
        protocol,
        protocolMapper: "oidc-audience-mapper",
        config: { "included.custom.audience": resource, "access.token.claim": "true" },
      }],
    });
  }
  await admin("POST", `/${realm}/clients`, {
    clientId: "agent",
    publicClient: true,
    standardFlowEnabled: false,
    directAccessGrantsEnabled: true,
    protocolMappers: [GROUPS],
    defaultClientScopes: ["basic"],
    optionalClientScopes: scopes,
  });
}

/** Makes a new key that the realm signs by from now on, and removes those before. */
export async function rotateKeys(admin: Admin, realm: string): Promise<void> {
  const { id } = await (await admin("GET", `/${realm}`)).json() as { id: string };
  const list = await admin("GET", `/${realm}/components?type=${KEY_PROVIDER}`);
  const before = await list.json() as { id: string; providerId: string }[];
  await admin("POST", `/${realm}/components`, {
    name: "another",
    providerId: "rsa-generated",
    providerType: KEY_PROVIDER,
    parentId: id,
    config: { priority: ["200"], enabled: ["true"], active: ["true"], algorithm: ["RS256"] },
  });
  for (const { id, providerId } of before) {
    if (providerId === "rsa-generated") await admin("DELETE", `/${realm}/components/${id}`);
  }
}
