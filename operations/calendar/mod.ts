/** The calendar: events, and what is on today. @module */
import { createEvent, deleteEvent } from "./changes.ts";
import { eventList, today } from "./lists.ts";

/** Operations of this folder. */
export const calendarOperations = [
  eventList,
  createEvent,
  today,
  deleteEvent,
];
