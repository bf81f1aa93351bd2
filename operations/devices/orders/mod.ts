/**
 * Commands for devices: ordering them, and the signatures of those who approve them.
 *
 * ```ts
 * const { command_id, status } = await orderCommand(platform, { id, deviceId, script_id: "uptime", needed: 1, … });
 * ```
 *
 * @module
 */
export { type CommandOrder, orderCommand, requireActiveDevice } from "./order.ts";
export { approversOf, approversWanted, COMMAND_OPERATION, findObstacle } from "./permission.ts";
export { resolveCommand, showArguments } from "./resolve.ts";
export { commandRefusal } from "./signatures.ts";
