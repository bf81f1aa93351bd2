/** The platform itself: health, status, ports, logs and briefings. @module */
import { briefing } from "./briefing.ts";
import { gatewayHealth, gatewayInfo } from "./gateway.ts";
import { logSearch } from "./logs.ts";
import { portCheck, portList } from "./ports.ts";
import { resourceList } from "./resources.ts";
import { selfHealJournal } from "./self_heal_journal.ts";
import { platformSetup } from "./setup.ts";
import { platformStatus, platformStatusFresh, platformStatusLive } from "./status.ts";

/** Operations of this folder. */
export const platformOperations = [
  gatewayInfo,
  gatewayHealth,
  platformStatus,
  platformStatusLive,
  platformStatusFresh,
  portList,
  portCheck,
  resourceList,
  logSearch,
  briefing,
  selfHealJournal,
  platformSetup,
];
