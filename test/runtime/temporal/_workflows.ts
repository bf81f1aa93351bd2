/** A workflow of the tests of workers: it hands a text to an activity, and returns that one's text. */
import { proxyActivities, workflowInfo } from "@temporalio/workflow";
import {
  activityOf,
  enclose,
  type Envelope,
  PLATFORM_TENANT,
} from "../../../contract/domain/mod.ts";

/** A text, which is private. */
export interface Note {
  readonly note: string;
}

const { work } = proxyActivities<{ work(call: unknown): Promise<Envelope> }>({
  startToCloseTimeout: "5 minutes",
  heartbeatTimeout: "5s",
  retry: { initialInterval: "100ms" },
});

/** Runs one activity. Takes and gives envelopes itself, as it has no interceptors. */
export async function hand({ args }: Envelope): Promise<Note> {
  const of = activityOf(workflowInfo().workflowId, "1");
  const call: Envelope = { envelope: "activity", name: "work", of, tenant: PLATFORM_TENANT, args };
  return (await work(enclose(call))).args[0] as Note;
}
