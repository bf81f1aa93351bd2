import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { Problem } from "../contract/mod.ts";
import { type ErrorName, ERRORS } from "../contract/domain/mod.ts";

/** gRPC codes for: nobody answers, or not in time. @see google.rpc.Code */
const AWAY_CODES = [4, 8, 10, 14];
/** @see google.rpc.Code */
const NOT_FOUND_CODE = 5;

/**
 * Maps errors of Temporal's client to problems that a caller can read.
 *
 * @param missing makes the problem for a workflow that is unknown or has ended
 */
export async function mapTemporalErrors<T>(
  work: Promise<T>,
  missing?: () => Problem,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (missing && isMissing(error)) throw missing();
    const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
    if (cause instanceof ApplicationFailure && isErrorName(cause.type)) {
      throw new Problem(cause.type, cause.message, { cause: error });
    }
    if (isTemporalAway(error)) {
      throw new Problem("Unavailable", "Temporal or its worker does not answer in time", {
        cause: error,
        headers: { "retry-after": "5" },
      });
    }
    throw error;
  }
}

/** Some calls of the client report an unknown workflow by its own error, others by gRPC's code. */
function isMissing(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError ||
    error instanceof Error && isGrpcServiceError(error) && error.code === NOT_FOUND_CODE;
}

function isTemporalAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isGrpcServiceError(error)) return AWAY_CODES.includes(error.code);
  return error.name === "WorkflowUpdateRPCTimeoutOrCancelledError" || isTemporalAway(error.cause);
}

function isErrorName(name: string | undefined | null): name is ErrorName {
  return typeof name === "string" && Object.hasOwn(ERRORS, name);
}
