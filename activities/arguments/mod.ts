/**
 * Schemas of the arguments of all activities, by their names.
 *
 * ```ts
 * wrapActivities(activities, ofTenant, ACTIVITY_ARGUMENTS);
 * ```
 *
 * @module
 */
import { LOOP_ARGUMENTS } from "./_loop.ts";
import { MAIL_ARGUMENTS } from "./_mail.ts";
import { OUTSIDE_ARGUMENTS } from "./_outside.ts";
import { PEOPLE_ARGUMENTS } from "./_people.ts";
import { PLATFORM_ARGUMENTS } from "./_platform.ts";
import { PUBLISHING_ARGUMENTS } from "./_publishing.ts";
import { REASONING_ARGUMENTS } from "./_reasoning.ts";

/** Schemas of the arguments of all activities. */
export const ACTIVITY_ARGUMENTS = {
  ...LOOP_ARGUMENTS,
  ...MAIL_ARGUMENTS,
  ...OUTSIDE_ARGUMENTS,
  ...PEOPLE_ARGUMENTS,
  ...PLATFORM_ARGUMENTS,
  ...PUBLISHING_ARGUMENTS,
  ...REASONING_ARGUMENTS,
};
