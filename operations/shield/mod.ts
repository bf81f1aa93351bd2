/** The shield: policies of devices, how far they are fulfilled, and firewalls. @module */
import { shieldCompliance } from "./compliance.ts";
import { firewallRules } from "./firewall.ts";
import { shieldPolicies } from "./policies.ts";

/** Operations of this folder. */
export const shieldOperations = [
  shieldCompliance,
  shieldPolicies,
  firewallRules,
];
