import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { Problem } from "../contract/mod.ts";
import { type ErrorName, ERRORS } from "../domain/mod.ts";

/** Codes of gRPC that say: nobody answers, or not in time. @see google.rpc.Code */
const AWAY = [4, 8, 10, 14];
/** @see google.rpc.Code */
const NOT_FOUND = 5;

/**
 * Turns what Temporal's client throws into what a caller can read.
 *
 * @param missing what there is none of, where the workflow is unknown or has ended
 */
export async function told<T>(work: Promise<T>, missing?: () => Problem): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (missing && isMissing(error)) throw missing();
    const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
    if (cause instanceof ApplicationFailure && isErrorName(cause.type)) {
      throw new Problem(cause.type, cause.message, { cause: error });
    }
    if (isAway(error)) {
      throw new Problem("Unavailable", "Temporal or its worker does not answer in time", {
        cause: error,
        headers: { "retry-after": "5" },
      });
    }
    throw error;
  }
}

/** Some questions of the client name an unknown workflow by its own error, others by gRPC's code. */
function isMissing(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError ||
    error instanceof Error && isGrpcServiceError(error) && error.code === NOT_FOUND;
}

/** Whether Temporal, or a worker that it needs, does not answer. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isGrpcServiceError(error)) return AWAY.includes(error.code);
  return error.name === "WorkflowUpdateRPCTimeoutOrCancelledError" || isAway(error.cause);
}

function isErrorName(name: string | undefined | null): name is ErrorName {
  return typeof name === "string" && Object.hasOwn(ERRORS, name);
}
