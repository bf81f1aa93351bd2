/** The shield: policies of devices, how far they are fulfilled, and firewalls. @module */
import { shieldCompliance } from "./compliance.ts";
import { firewallRules } from "./firewall.ts";
import { shieldPolicies } from "./policies.ts";
import { shieldStats } from "./stats.ts";

/** Operations of this folder. */
export const shieldOperations = [
  shieldStats,
  shieldCompliance,
  shieldPolicies,
  firewallRules,
];
