import type { WorkerOptions } from "@temporalio/worker";
import type { Store } from "../../store/mod.ts";
import { openCalls } from "./_activity_calls.ts";
import { workerCodec } from "./payloads.ts";

/**
 * Returns the options by which a worker takes work of the platform's alone. Workflows have their part of it in their bundle.
 *
 * @param signal ends the waiting for the database
 */
export function authenticatedWork(
  store: Store,
  signal?: AbortSignal,
): Pick<WorkerOptions, "dataConverter" | "interceptors"> {
  return {
    dataConverter: { payloadCodecs: [workerCodec(store, signal)] },
    interceptors: { activity: [openCalls] },
  };
}
