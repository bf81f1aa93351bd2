/** Fields in which incidents lie, in the order in which tables show them. */
export const CATEGORIES = [
  "network",
  "dns",
  "certificate",
  "database",
  "storage",
  "compute",
  "application",
  "deployment",
  "configuration",
  "security",
  "identity",
  "dependency",
  "messaging",
  "hardware",
  "backup",
  "other",
] as const;

/** A field in which an incident lies. */
export type Category = typeof CATEGORIES[number];
