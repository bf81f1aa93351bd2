/**
 * Looks before judging: sources of observations about a fault, none of which changes anything.
 *
 * ```ts
 * const observations = await observe("process", subject, { config, store });
 * ```
 *
 * Trusts: the operator who writes the services file, whose checks and folders are looked at.
 * Doesn't trust: what programs have written, which attackers may have, too.
 * @module
 */
export { type CauseJudgement, type Hypothesis, judgeCause } from "./causes.ts";
export { factsOf } from "./facts.ts";
export { chooseObservers, describeObservers } from "./_observers.ts";
export { observe, observeCommand } from "./observe.ts";
export { NotHad, type Subject } from "./observer.ts";
