/** The names that the product goes by, decided once. Everything that prints or parses one imports it from here. */

/** Product, package, and prefix of what is created outside the project (roles, cache folder). */
export const PRODUCT = "sealoop";

/** First part of every API key: `slp_<tier>_<random>`. */
export const KEY_PREFIX = "slp";

/** Version of the gateway's description (`/openapi.json`). */
export const API_VERSION = "1.0.0";

/** Version that the tool server reports. */
export const TOOL_SERVER_VERSION = "2.2.0";

/** `service` fields of the health bodies, and names in logs. */
export const SERVICE = {
  gateway: "sealoop-gateway",
  toolServer: "sealoop-mcp",
  ledger: "sealoop-ledger",
  worker: "sealoop-worker",
  engine: "sealoop-engine",
} as const;

/** Actor in receipts of what the loop does by itself. */
export const LOOP_ACTOR = "itsm-loop";

/** Actor of receipts that a caller without a key causes. */
export const ANONYMOUS_ACTOR = "anonymous";

/** Actor of receipts that name nobody, as nothing public links what a person decides. */
export const PERSON_ACTOR = "person";

/** Tenant of the operator: owns the platform's own services and all that comes of them. */
export const PLATFORM_TENANT = "platform";

/** Tenant whose rows every tenant may read: the articles of the knowledge base. */
export const SHARED_TENANT = "everyone";
