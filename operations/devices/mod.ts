/** Devices: their heartbeats, and what is known of them. @module */
import { heartbeat } from "./heartbeat.ts";

/** Operations of this folder. */
export const deviceOperations = [
  heartbeat,
];
