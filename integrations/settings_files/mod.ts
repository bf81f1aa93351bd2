/**
 * Settings files. What is in force stands in the database, in versions; this machine's files put versions, or are held
 * against what is in force. What came of each reading is stored for all processes to see, and told in the operator's feed.
 *
 * ```ts
 * const followed = await followSettingsFile({ name: "shield", check, apply }, { config, store, log });
 * ```
 *
 * @module
 */
export { filesOf, readContent, writeContent } from "./content.ts";
export { type Follower, followSettingsFile } from "./follow.ts";
export { describeDrift, describeMistake, describeRefusal, mistakesOf } from "./note.ts";
export { configFileOf, putConfig, putOwnFile } from "./put.ts";
