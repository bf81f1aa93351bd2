/**
 * Alerts of monitoring that is there already: an Alertmanager of the operator's is read, and may be silenced for minutes.
 *
 * ```ts
 * const alerts = openAlertSource(config); // undefined: none is set
 * for (const { labels } of await alerts.list()) console.log(labels.alertname);
 * ```
 *
 * Doesn't trust: labels, which whoever is monitored may have written.
 * @module
 */
export { type AlertClock, type AlertSource, openAlertSource } from "./alertmanager.ts";
export { type Alert, readAlerts } from "./read_alerts.ts";
