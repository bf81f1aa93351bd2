/**
 * Texts that workflows have language models write. `operations/models/writing` checks them.
 *
 * ```ts
 * const { answer, ...result } = await askModel(engine, request);
 * ```
 *
 * @module
 */
export { askModel, draftOf } from "./model.ts";
