import { Problem } from "../../contract/mod.ts";

/** Result of a request that failed. `unknown`: it may have been carried out. */
export type FailedOutcome = "not_done" | "unknown";

/** A system of others gave no answer that can be used. The message names neither its address nor its answer. */
export class RemoteFailed extends Problem {
  /**
   * @param code `timeout`, `unreachable`, `tls`, `credential`, `limited`, `refused`, `failed`, `redirect`, `not_json`,
   * `not_socket`, `shape`, `too_large`, `too_slow`, `not_read`, `address`, `paused`, or that of a refusal to read it
   * @param about what happened, after the system's name
   */
  constructor(
    readonly system: string,
    readonly code: string,
    about: string,
    readonly outcome: FailedOutcome,
    readonly retryAfterMs?: number,
  ) {
    super("Unavailable", `${system} ${about}`);
  }
}
