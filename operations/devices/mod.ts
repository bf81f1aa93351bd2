/** Devices: how machines become devices, their heartbeats, and their commands. @module */
import { downloadAgent, installScript } from "./agent.ts";
import { discoverHosts } from "./discover.ts";
import { enrolDevice } from "./enrol.ts";
import { commandDevice } from "./command.ts";
import { commandHistory } from "./command_history.ts";
import { heartbeat } from "./heartbeat.ts";
import { runScript } from "./run_script.ts";
import { sealDeviceStatement } from "./seal.ts";
import { deviceList, rmmAgents, tenantDevices } from "./list.ts";
import { deviceResources } from "./resources.ts";

/** Operations of this folder. */
export const deviceOperations = [
  enrolDevice,
  downloadAgent,
  installScript,
  discoverHosts,
  heartbeat,
  commandDevice,
  commandHistory,
  runScript,
  sealDeviceStatement,
  deviceList,
  deviceResources,
  rmmAgents,
  tenantDevices,
];

export { commandSubject, deviceSubject } from "./approval.ts";
