/**
 * The parts of the docs that are made from the sources.
 *
 * ```ts
 * for (const { path, text } of await generateDocs()) writeFileSync(path, text);
 * ```
 * @module
 */
export { generateDocs } from "./generate.ts";
