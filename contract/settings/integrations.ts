import { z } from "zod";
import { count, networks, safe, text } from "./_kinds.ts";

const CREDENTIALS = z.record(z.string(), z.string().min(1));
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Remote systems of others. */
export const INTEGRATION_SETTINGS = {
  SEALOOP_CREDENTIALS: z.string().default("{}").transform((text, ctx) => {
    const parsed = CREDENTIALS.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    ctx.addIssue("Expected a JSON object of texts"); // and never the value itself
    return z.NEVER;
  }).describe(
    "Credentials of channels and peers by name, as JSON; unset: files of these names in credentials/ of the data folder",
  ),
  SEALOOP_OUTBOUND_ALLOW: networks(
    "Networks that are not public and yet may be reached at addresses that others name, as 10.1.0.0/16,…",
  ),
  SEALOOP_PEERS: text(
    "File of the agents of other organizations; unset: sealoop.peers.yaml in the data folder",
  ),
  SEALOOP_OPA_URL: safe(
    "Address of an Open Policy Agent: a second opinion about every call that changes something",
  ).optional(),
  SEALOOP_OPA_PATH: z.string().regex(/^[A-Za-z0-9_]+(\/[A-Za-z0-9_]+)*$/).default(
    "sealoop/decision",
  ).describe("… and the path of the decision in its data"),
  SEALOOP_CISO_ASSISTANT_URL: safe(
    "Address of a CISO Assistant, whose register of compliance is shown; needs the credential `ciso-assistant`",
  ).optional(),
  SEALOOP_FLEET_URL: safe(
    "Address of a Fleet, whose machines are listed and run its scripts; needs the credential `fleet`",
  ).optional(),
  SEALOOP_N8N_URL: safe(
    "Address of an n8n, whose workflows can be started; needs the credential `n8n`",
  ).optional(),
  SEALOOP_ACT_WAIT_SECONDS: count(
    600,
    "Seconds for which n8n, Fleet and Mastodon are looked at for what became of an act; then it is unknown",
  ),
  SEALOOP_WEAVIATE_URL: safe(
    "Address of a Weaviate, whose documents answer the operator's questions instead of the knowledge base",
  ).optional(),
  SEALOOP_WEAVIATE_COLLECTION: z.string().regex(/^[A-Z][A-Za-z0-9_]{0,200}$/).optional().describe(
    "… and its collection that is searched; unset: its first",
  ),
  SEALOOP_MESHCENTRAL_URL: safe(
    "Address of a MeshCentral, whose devices are listed; needs the credential `meshcentral`",
  ).optional(),
  SEALOOP_MESHCENTRAL_USER: z.string().min(1).max(200).default("sealoop").describe(
    "… and the account or the login token that it is asked as",
  ),
  SEALOOP_KEYCLOAK_URL: safe(
    "Address of a Keycloak's realm, such as https://id.example/realms/acme: the identity provider of organizations, and a trail " +
      "for auditors; needs the credential `keycloak`",
  ).refine((address) => /\/realms\/[^/]+$/.test(address), "Expected …/realms/ and its name")
    .optional(),
  SEALOOP_KEYCLOAK_CLIENT: z.string().min(1).max(200).default("sealoop").describe(
    "… and the id of the client that it is asked as",
  ),
  SEALOOP_ALERTMANAGER_URL: safe(
    "Address of an Alertmanager, whose alerts the detectors read by the rules in their file",
  ).optional(),
};
