/** A workflow of the tests of workers: it hands a text to an activity, and returns that one's text. */
import { proxyActivities } from "@temporalio/workflow";

/** A text, which is private. */
export interface Note {
  readonly note: string;
}

const { work } = proxyActivities<{ work(note: Note): Promise<Note> }>({
  startToCloseTimeout: "5 minutes",
  heartbeatTimeout: "2s",
  retry: { initialInterval: "100ms" },
});

/** Runs one activity. */
export async function hand(note: Note): Promise<Note> {
  return await work(note);
}
