import { cancellationSignal } from "@temporalio/activity";
import { redactSecrets } from "../../contract/mod.ts";
import type { Draft } from "../../contract/domain/mod.ts";
import {
  type Engine,
  MAX_REPORT_LENGTH,
  type WriteRequest,
  type WriteResult,
} from "../../judgement/engine/mod.ts";

/**
 * Asks a model to write, where one is configured. Secrets are redacted first.
 *
 * A model's calls cost money: a workflow runs each such activity once, without retries.
 *
 * @throws {EngineUnavailable}
 */
export async function askModel(engine: Engine, request: WriteRequest): Promise<WriteResult> {
  const signal = cancellationSignal();
  const report = request.report.slice(0, MAX_REPORT_LENGTH).toWellFormed();
  try {
    return await engine.write(redactSecrets({ ...request, report }), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** Returns a draft with some content of what a model wrote. */
export function draftOf<T>(
  content: T | null,
  { provider, model, asked, reason }: Pick<WriteResult, "provider" | "model" | "asked" | "reason">,
): Draft<T> {
  return { content, provider, model, asked, reason };
}
