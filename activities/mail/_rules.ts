import type { Config } from "../../config.ts";
import { Problem } from "../../contract/mod.ts";
import { type MailRules, readMailRules } from "../../integrations/mail/mod.ts";

/**
 * Reads the rules of mail for a run that has begun.
 *
 * @throws {Problem} `Unavailable`: the file is wrong; a retry finds it corrected
 */
export function requireMailRules(config: Config): MailRules {
  try {
    return readMailRules(config);
  } catch (error) {
    if (!(error instanceof Problem && error.name === "NotConfigured")) throw error;
    throw new Problem("Unavailable", error.message);
  }
}
