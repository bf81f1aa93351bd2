/**
 * Devices: their enrolment, heartbeats and inventories, and the commands that they run.
 *
 * ```ts
 * const device = await getDevice(db, id);
 * await putDeviceCommand(trx, command);
 * ```
 * @module
 */
export {
  countDeviceCommands,
  type DeviceCommandRecord,
  dropDeviceCommand,
  getDeviceCommand,
  getTime,
  listDeviceCommands,
  lockDeviceCommand,
  type NewDeviceCommand,
  putDeviceCommand,
} from "./device_commands.ts";
export { keepOutput, listUndelivered, noteDelivered, noteOffered } from "./device_deliveries.ts";
export { type DeviceFigures, findGraphDevices, getDeviceFigures } from "./device_figures.ts";
export {
  DEVICE_STATUSES,
  type DevicePresence,
  listPresence,
  markOffline,
  watchGateways,
} from "./device_presence.ts";
export { pruneDeviceRecords } from "./device_retention.ts";
export { type DeviceServicesRecord, listDeviceServices } from "./device_services.ts";
export {
  addStatement,
  getStatement,
  getStatementSequence,
  hasEgressStatement,
  type StatementRecord,
} from "./device_statements.ts";
export {
  addDevice,
  type DeviceRecord,
  findDevice,
  findEnrolment,
  getDevice,
  listDevices,
  type NewDevice,
  noteApprovers,
  noteApproversRefused,
  quarantineDevice,
  releaseDevice,
  renewEnrolment,
  setReplaced,
  type UsedCode,
  useEnrolmentCode,
} from "./devices.ts";
export {
  addHeartbeatBatch,
  findHeartbeatBatch,
  getNewestBatchReceipt,
  type HeartbeatBatch,
  listSeenDevices,
  type SeenDevice,
} from "./heartbeat_batches.ts";
export {
  addSplitView,
  beginHeartbeat,
  type BegunHeartbeat,
  challengeDevice,
  DEVICE_NEWS,
  endHeartbeat,
  getNewestHeartbeat,
  type Journal,
  type NewestHeartbeat,
  notifyDevice,
  setFirewall,
  takeOverHeartbeat,
} from "./heartbeats.ts";
export {
  getInventory,
  type InventoryTexts,
  putInventory,
  setInventoryHash,
} from "./inventories.ts";
export {
  type DeviceFactsRecord,
  type DeviceInterfaces,
  findDevicesByAddress,
  listDeviceFacts,
  listDeviceInterfaces,
  listDevicesToMeasure,
  listMeshMeasurements,
} from "./shield.ts";
export {
  addApprovers,
  type Approvers,
  type ApproversVersion,
  findApproversAfter,
  getApprovers,
} from "./tenant_approvers.ts";
export {
  endDeviceCommand,
  getCommandSequence,
  nextCommandSequence,
  noteBegun,
  noteIssued,
  noteSealed,
  queueDeviceCommand,
} from "./device_command_states.ts";
