/** Processes that a whole platform has, in the order in which they are listed. */
export const PROCESS_NAMES = ["gateway", "mcp", "worker", "sequencer", "engine", "ledger"] as const;

/** Name of a process of the platform: one that it needs, one beside them, or a server that `npm start` keeps. */
export type ProcessName =
  | typeof PROCESS_NAMES[number]
  | "mcp-stdio"
  | "supervisor"
  | "postgresql"
  | "temporal";

/** States of a process: `silent` has not been heard of for seconds, `absent` is not there at all. */
export const PROCESS_STATUSES = [
  "starting",
  "waiting",
  "running",
  "stopping",
  "silent",
  "absent",
] as const;

/** State of a process. */
export type ProcessStatus = typeof PROCESS_STATUSES[number];
