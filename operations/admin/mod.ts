/** Settings and records that admins alone see and change. @module */
import { flagList, setFlag, setFlags } from "./flags.ts";
import { adminIntegrations } from "./integrations.ts";
import { serviceList } from "./services.ts";

/** Operations of this folder. */
export const adminOperations = [adminIntegrations, serviceList, flagList, setFlags, setFlag];
