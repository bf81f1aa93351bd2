/**
 * Settings files, read so that everybody hears of it: each reading ends as taken or as refused, is stored for all processes
 * to see, and is told in the operator's feed where it is news.
 *
 * ```ts
 * const followed = await followSettingsFile({ name: "shield", path, apply }, store, log);
 * ```
 *
 * @module
 */
export { followSettingsFile } from "./follow.ts";
export { describeMistake, describeRefusal, mistakesOf, noteSettingsFile } from "./note.ts";
