import type { Config } from "../../config.ts";
import { type GrcClient, openCisoAssistant } from "../grc/mod.ts";
import { type KeycloakClient, openKeycloak } from "../identity/mod.ts";
import { type MeshClient, openMeshCentral } from "../mesh/mod.ts";
import { collectorCredential, collectorUrl } from "../observability/mod.ts";
import { type OidcClient, openOidc } from "../oidc/mod.ts";
import { openWeaviate, type RagClient } from "../rag/mod.ts";
import { openFleet, type RmmClient } from "../rmm/mod.ts";
import { openN8n, type SoarClient } from "../soar/mod.ts";
import { type MastodonClient, openMastodon } from "../social/mod.ts";

/** The operator's systems that stand for a form of the platform's own; undefined: none is set. */
export interface OutsideSystems {
  readonly grc: GrcClient | undefined;
  readonly rmm: RmmClient | undefined;
  readonly mesh: MeshClient | undefined;
  readonly soar: SoarClient | undefined;
  readonly rag: RagClient | undefined;
  /** Also the identity provider of organizations. */
  readonly audit: KeycloakClient | undefined;
  /** By which people sign in. */
  readonly oidc: OidcClient | undefined;
  /** Where posts are published. */
  readonly mastodon: MastodonClient | undefined;
}

/** Opens the clients of the systems whose URLs are set. Nothing is connected. */
export function openOutside(config: Config): OutsideSystems {
  return {
    grc: openCisoAssistant(config),
    rmm: openFleet(config),
    mesh: openMeshCentral(config),
    soar: openN8n(config),
    rag: openWeaviate(config),
    audit: openKeycloak(config),
    oidc: openOidc(config),
    mastodon: openMastodon(config),
  };
}

/** Returns the URL that is set for a system, and the name of its credential; undefined: none is set. */
export function remoteSettingsOf(
  name: string,
  config: Pick<Config, "settings">,
): { readonly url: string; readonly credential: string } | undefined {
  const { settings } = config;
  const known: Readonly<Record<string, readonly [string | undefined, string]>> = {
    observability: [
      collectorUrl(config) ?? settings.SEALOOP_LANGFUSE_URL,
      collectorCredential(config),
    ],
    policy: [settings.SEALOOP_OPA_URL, "opa"],
    grc: [settings.SEALOOP_CISO_ASSISTANT_URL, "ciso-assistant"],
    rmm: [settings.SEALOOP_FLEET_URL, "fleet"],
    mesh: [settings.SEALOOP_MESHCENTRAL_URL, "meshcentral"],
    soar: [settings.SEALOOP_N8N_URL, "n8n"],
    rag: [settings.SEALOOP_WEAVIATE_URL, "weaviate"],
    audit: [settings.SEALOOP_KEYCLOAK_URL, "keycloak"],
  };
  const [url, credential] = known[name] ?? [];
  return url === undefined ? undefined : { url, credential: credential! };
}
