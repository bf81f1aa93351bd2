/**
 * Scripts for devices: commands as data, with parameters, limits, a script that verifies and one that undoes.
 *
 * ```ts
 * await releaseScripts(store, loadScripts(scriptsFolder(config))); // at the worker's start
 * const argv = fillArguments(script, { unit: "nginx.service" });
 * ```
 *
 * Trusts: the operator who writes scripts. Doesn't trust: values of parameters, which never become more than a part of one
 * argument.
 * @module
 */
export { fillArguments, type ScriptValues } from "./fill.ts";
export { followScripts, releaseScripts } from "./in_force.ts";
export { BadScript, loadScripts, type Script, scriptsFolder } from "./load.ts";
export { type ScriptDocument, scriptFileSchema, ScriptId } from "./schema.ts";
