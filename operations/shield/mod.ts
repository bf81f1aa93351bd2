/** The shield: policies of devices, how far they are fulfilled, firewalls, and the ways between devices. @module */
import { shieldCompliance } from "./compliance.ts";
import { firewallRules } from "./firewall.ts";
import { meshDevices, meshHealth, meshStats } from "./mesh.ts";
import { shieldPolicies } from "./policies.ts";
import { rmmHealth } from "./rmm.ts";
import { shieldStats } from "./stats.ts";

/** Operations of this folder. */
export const shieldOperations = [
  shieldStats,
  shieldCompliance,
  shieldPolicies,
  firewallRules,
  rmmHealth,
  meshHealth,
  meshDevices,
  meshStats,
];
