/** What admins see and set. @module */
import { flagList, setFlag, setFlags } from "./flags.ts";
import { adminIntegrations } from "./integrations.ts";

/** Operations of this folder. */
export const adminOperations = [adminIntegrations, flagList, setFlags, setFlag];
