/**
 * The rooms of the project and the imports between its files: what the test of imports checks, and what the picture of
 * the architecture shows.
 *
 * ```ts
 * const imports = readImports();
 * findCycles(imports); // []
 * ```
 * @module
 */
export { findCycles, isFaceOf } from "./checks.ts";
export { type Import, listFaces, readImports } from "./read.ts";
export { isProduct, roomOf, ROOMS } from "./rooms.ts";
