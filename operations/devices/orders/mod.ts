/**
 * Commands for devices: ordering them, and the signatures of those who approve them.
 *
 * ```ts
 * const { command_id, status } = await orderCommand(platform, { id, deviceId, script_id: "uptime", needed: 1, … });
 * ```
 *
 * @module
 */
export {
  type CommandOrder,
  type CommandParts,
  describeCommand,
  orderCommand,
  type OrderedCommand,
  requireActiveDevice,
} from "./order.ts";
export { commandIdOf, recoverCommand } from "./recover.ts";
export {
  approversOf,
  approversWanted,
  COMMAND_OPERATION,
  type CommandObstacle,
  findObstacle,
} from "./permission.ts";
export {
  type CommandRequest,
  resolveCommand,
  type ResolvedCommand,
  showArguments,
} from "./resolve.ts";
export { commandRefusal } from "./signatures.ts";
