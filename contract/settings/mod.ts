/**
 * Every setting of the environment: how it is checked, its default, and its description. `config.ts` reads them.
 *
 * ```ts
 * const settings = SETTINGS.parse(process.env);
 * ```
 * @module
 */
import { z } from "zod";
import { INTEGRATION_SETTINGS } from "./integrations.ts";
import { LEDGER_SETTINGS } from "./ledger.ts";
import { LIMIT_SETTINGS } from "./limits.ts";
import { LOOP_SETTINGS } from "./loop.ts";
import { MESSAGE_SETTINGS } from "./messages.ts";
import { MODEL_SETTINGS } from "./models.ts";
import { OBSERVABILITY_SETTINGS } from "./observability.ts";
import { PEOPLE_SETTINGS } from "./people.ts";
import { PLATFORM_SETTINGS } from "./platform.ts";
import { PUBLISHING_SETTINGS } from "./publishing.ts";

/**
 * Settings from the environment, by name. The table in `docs/operating.md` is made from this.
 *
 * Temporal's own variables (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_TLS_…`, `TEMPORAL_CONFIG_FILE`)
 * are read by its SDK's environment configuration and are not repeated here. Those of OpenTelemetry are its standard ones.
 */
export const SETTINGS = z.strictObject({
  ...PLATFORM_SETTINGS,
  ...PEOPLE_SETTINGS,
  ...LEDGER_SETTINGS,
  ...LOOP_SETTINGS,
  ...MODEL_SETTINGS,
  ...INTEGRATION_SETTINGS,
  ...MESSAGE_SETTINGS,
  ...PUBLISHING_SETTINGS,
  ...LIMIT_SETTINGS,
  ...OBSERVABILITY_SETTINGS,
});

/** Checked settings, by the names of their environment variables. */
export type Settings = Readonly<z.output<typeof SETTINGS>>;
