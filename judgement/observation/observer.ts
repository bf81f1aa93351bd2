import type { Config } from "../../config.ts";
import type { Finding, Observation, ObserverName } from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import type { ParameterValues } from "../runbooks/mod.ts";
import type { FindingRecord } from "../../store/incidents/mod.ts";
import type { Store } from "../../store/mod.ts";

/** A fault to look at, and where it is. */
export interface Subject {
  readonly finding: Finding;
  /** Code of the last look. */
  readonly code: string;
  /** Undefined: it is about no service that is known. */
  readonly service: Service | undefined;
  /** True: the service is on this host. */
  readonly isLocal: boolean;
  /** As its detector recorded it. */
  readonly record: FindingRecord | undefined;
  /** Values that the services file gives for runbooks: a unit, a container. */
  readonly values: ParameterValues;
  /** Earlier events are not about this fault: some minutes before it was first found. */
  readonly since: Date;
}

/** Surroundings of the sources. */
export interface ObserverContext {
  readonly config: Config;
  /** Of the tenant whose fault it is. */
  readonly store: Store;
  /**
   * Has a device run a read-only script of the catalogue, and returns what it prints. Absent: devices can't be asked.
   *
   * @throws {NotHad}
   */
  readonly runOnDevice?: (deviceId: string, script: string) => Promise<string>;
  /** Ends what takes too long. */
  readonly deadline: AbortSignal;
}

/** A source of observations. It changes nothing. */
export interface Observer {
  readonly name: ObserverName;
  /** Its subject, in one sentence. */
  readonly about: string;
  /** True: it reads only this host and the platform's records, and waits for nobody else. Those look together. */
  readonly isNear?: boolean;
  /** Returns whether there may be something to look at, by what is known of the fault and the service. Else it is not asked. */
  applies(subject: Subject): boolean;
  /**
   * Looks once.
   *
   * @returns empty where there is nothing to look at
   * @throws {NotHad} it could not look
   */
  observe(subject: Subject, context: ObserverContext): Promise<readonly Observation[]>;
}

/** A source could not look. */
export class NotHad extends Error {
  override readonly name = "NotHad";

  /** @param reason code, such as `permission`, `no_program`, `timeout` */
  constructor(readonly reason: string) {
    super(`It can't be had: ${reason}`);
  }
}
