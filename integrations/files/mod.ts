/**
 * Files on this host: YAML of operators with errors that name the line, files that change, logs that grow, secrets.
 *
 * ```ts
 * const read = readYamlFile(path, Schema);
 * const followed = await followFile({ path, name: "services file", log, apply });
 * const { lines, place } = await readAddedLines(path, lastPlace);
 * ```
 *
 * @module
 */
export { type FilePlace, readAddedLines } from "./added_lines.ts";
export { adviseField } from "./known_fields.ts";
export { BadFile, type Mistake } from "./bad_file.ts";
export { pathBelow, realPathBelow } from "./below.ts";
export { type FollowedFile, followFile, stampOf } from "./follow_file.ts";
export { matchesGlob } from "./glob.ts";
export { readOrCreateSecret } from "./secret_file.ts";
export { copyPath, ownFilePath, settingsFilePath } from "./settings_file_path.ts";
export { type FileSource, fileSource, IN_FORCE } from "./source.ts";
export { type Explain, readYaml, readYamlFile } from "./yaml_file.ts";
