/**
 * Open acts: those outside whose intent is sealed and whose end is not, and other work whose run is to end it.
 *
 * ```ts
 * await openAct(trx, { kind: "peer", id: question_id, run, act: request });
 * const open = await listOpenActs(db);
 * ```
 * @module
 */
export { closeAct, listOpenActs, type OpenAct, openAct } from "./open_acts.ts";
