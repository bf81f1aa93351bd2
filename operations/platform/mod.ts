/** The platform itself: health, status, ports, logs, briefings. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { briefing, selfHealJournal } from "./briefing.ts";
import { health, info } from "./health.ts";
import { searchPlatformLogs } from "./platform_logs.ts";
import { portCheck, ports } from "./ports.ts";
import { resourceIndex } from "./resources.ts";
import { status, statusFresh, statusLive } from "./status.ts";

/** Operations of this folder. */
export const platformOperations: readonly Operation<Platform>[] = [
  info,
  health,
  status,
  statusLive,
  statusFresh,
  ports,
  portCheck,
  resourceIndex,
  searchPlatformLogs,
  briefing,
  selfHealJournal,
];
