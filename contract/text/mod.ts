/**
 * Parts of a text that can't be seen, or must not be: invisible characters, escape sequences, secrets.
 *
 * ```ts
 * console.log(toLine(description));
 * ```
 * @module
 */
export { escapeInvisible, redactSecrets, stripInvisible, toLine } from "./sanitize.ts";
