/**
 * What can't be seen in a text, and what must not be: invisible characters, escape sequences, secrets.
 *
 * ```ts
 * console.log(toLine(description));
 * ```
 * @module
 */
export { escapeInvisible, redactSecrets, stripInvisible, toLine } from "./sanitize.ts";
