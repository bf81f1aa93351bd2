/**
 * Channels over which people are told: e-mail, Slack, Teams, Matrix, ntfy and webhooks, as `sealoop.comms.yaml` names them.
 *
 * ```ts
 * const comms = readCommsFile(commsFilePath(config));
 * const deliveries = planDeliveries(comms.get("platform")!, message, new Date());
 * const { state } = await sendNotice(config, channel, message);
 * ```
 *
 * Doesn't trust: texts, which are shown as they are and never as links or mentions; receivers, beyond their status.
 * @module
 */
export {
  BadCommsFile,
  type ChannelEntry,
  type Comms,
  commsFilePath,
  commsFileSchema,
  type CommsSection,
  followComms,
  readCommsFile,
} from "./comms_file.ts";
export { BadCredential, findCredential, readCredential } from "./credentials.ts";
export { endOfQuiet } from "./quiet_hours.ts";
export { kindOf, planDeliveries } from "./routing.ts";
export { sendNotice, type SendResult } from "./send.ts";
export type { Notice } from "./_requests.ts";
