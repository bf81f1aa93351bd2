import type { Config } from "../../config.ts";
import { readCredential } from "../channels/mod.ts";
import { remember } from "../remote/mod.ts";
import { openRealm, type Realm } from "./_realm.ts";
import { type AdminEvent, keepsAdminEvents, listAdminEvents } from "./admin_events.ts";

/** A realm of a Keycloak of the operator's. */
export interface KeycloakClient {
  /** Its admin API. */
  readonly realm: Realm;
  /** Lists its newest admin events, as they were in the last ten seconds. @throws {RemoteFailed} */
  listEvents(): Promise<readonly AdminEvent[]>;
  /** Returns whether it keeps admin events. @throws {RemoteFailed} */
  keepsEvents(): Promise<boolean>;
  /** As a client's. */
  pause(): string | undefined;
}

/** Opens the client of a realm, if its URL is set. */
export function openKeycloak(config: Config): KeycloakClient | undefined {
  const { SEALOOP_KEYCLOAK_URL: url, SEALOOP_KEYCLOAK_CLIENT: clientId } = config.settings;
  if (url === undefined) return undefined;
  const realm = openRealm({ url, clientId, secret: () => readCredential(config, "keycloak") });
  return {
    realm,
    listEvents: remember(() => listAdminEvents(realm)),
    keepsEvents: () => keepsAdminEvents(realm),
    pause: realm.pause,
  };
}
