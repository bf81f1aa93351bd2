/** Errors for callers whose model gave no answer. */
import { InvalidInput, Problem } from "../../../contract/mod.ts";
import type { ModelProvider } from "../../../contract/domain/mod.ts";
import {
  type ChatFailure,
  type ChatFailureCode,
  PROVIDER_SETTINGS,
} from "../../../judgement/engine/mod.ts";

/** Seconds after which a caller may try again, where the provider names none. */
const RETRY_AFTER_SECONDS = 10;

const REASONS: Readonly<Record<Exclude<ChatFailureCode, "refused">, string>> = {
  unreachable: "it can't be reached at the moment; nothing is billed",
  silent: "it was silent for too long; what was made is billed",
  cut_off: "its answer was cut off; what was made is billed",
  malformed: "its answer can't be read; what was made is billed",
  aborted: "its answer took too long; what was made is billed",
};

/** Returns the error for a failed answer. @param isGone true where the caller has left */
export function failureProblem(
  failure: ChatFailure,
  provider: ModelProvider,
  model: string,
  isGone: boolean,
): Problem {
  if (isGone) return new Problem("Cancelled", "The caller has left; what was made is billed");
  if (failure.code === "refused") return refusal(failure, provider, model);
  return unavailable(`Cannot use the answer of ${provider}: ${REASONS[failure.code]}`, failure);
}

function refusal(failure: ChatFailure, provider: ModelProvider, model: string): Problem {
  const status = failure.status!;
  if (status === 401 || status === 403) {
    return new Problem(
      "NotConfigured",
      `${provider} answers ${status}: it refuses the key; set ${
        PROVIDER_SETTINGS[provider]
      } to a valid one`,
    );
  }
  if (status === 404) {
    const msg = `${provider} knows no such model`;
    return new InvalidInput([{ path: ["model"], msg, type: "value_error" }]);
  }
  if (status === 400 || status === 413 || status === 422) {
    const msg = `${provider} refuses this request to ${model} with ${status}`;
    return new InvalidInput([{ path: ["messages"], msg, type: "value_error" }]);
  }
  const what = status === 429 ? "the platform has asked it too often" : "it has a fault of its own";
  return unavailable(`${provider} answers ${status}: ${what}; nothing is billed`, failure);
}

function unavailable(message: string, { retryAfter = RETRY_AFTER_SECONDS }: ChatFailure): Problem {
  return new Problem("Unavailable", message, { headers: { "retry-after": String(retryAfter) } });
}
