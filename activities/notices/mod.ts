/**
 * Activities that tell people: over which channels, and of what is due.
 *
 * ```ts
 * const { readNotice, deliverNotice } = noticeActivities(parts);
 * const { tellWhatIsDue } = dueActivities(parts);
 * ```
 *
 * @module
 */
export { dueActivities } from "./due.ts";
export { noticeActivities } from "./notices.ts";
