/** Devices: how machines become devices, and their heartbeats. @module */
import { downloadAgent, installScript } from "./agent.ts";
import { discoverHosts } from "./discover.ts";
import { enrolDevice } from "./enrol.ts";
import { heartbeat } from "./heartbeat.ts";

/** Operations of this folder. */
export const deviceOperations = [
  enrolDevice,
  downloadAgent,
  installScript,
  discoverHosts,
  heartbeat,
];
