import type { Client } from "@temporalio/client";
import { type Allowance, type CallContext, type Caller, defineOperation, type Invoke, type Operation, Problem } from "../contract/mod.ts";
import { approverKey, createInvoke } from "./invoke.ts";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { Engine } from "../engine/mod.ts";
import { type Governor, openGovernor } from "./governance/mod.ts";
import type { ChainWatch, Sealer } from "../ledger/mod.ts";
import type { Meter, Store } from "../store/mod.ts";
import { limitsOf, openAdmission, toolAdmission } from "./limit.ts";
import { askPeople } from "./approvals/ask.ts";
import { authentication, type Keyring, tokenHolder } from "./authenticate.ts";
import { type Action, recordCounted, recorder, sealAction } from "./record.ts";
import { resolvingStandIns } from "./delegate.ts";

/** The parts that operations work with. A process's entry makes them and hands them in. */
export interface Platform {
  readonly config: Config;
  readonly log: Logger;
  /** As role `app`. */
  readonly store: Store;
  readonly sealer: Sealer;
  readonly chain: ChainWatch;
  readonly meter: Meter;
  readonly keyring: Keyring;
  /** What judges reports and repairs, in a process of its own. */
  readonly engine: Engine;
  /** Temporal, connected on first use. @throws {Problem} `Unavailable` while it is away */
  temporal(): Promise<Client>;
  /** Public addresses without a slash at the end, for links in answers. */
  readonly urls: { readonly gateway: string; readonly ledger: string };
}

/** Describes an operation of this platform; see `contract/`. */
export const operation: ReturnType<typeof defineOperation<Platform>> = defineOperation<Platform>();

/** What an operation's `run` gets. */
export type Context = Platform & CallContext;

/** The one way in, with this platform's gates. Every door is given what this gives. */
export function createPlatformInvoke(platform: Platform): Invoke<Platform> {
  const identify = authentication(platform.keyring);
  const governor = governorOf(platform);
  const admission = openAdmission(platform.meter);
  const { settings } = platform.config;
  return resolvingStandIns(createInvoke<Platform>({
    authenticate: async (request, { access }) =>
      access === "token"
        ? tokenHolder(request, settings.SEALOOP_A2A_TOKEN)
        : await identify(request),
    enter(operation, caller, door) {
      const turn = admission.open(limitsOf(operation, caller, door, settings));
      const { count, use } = turn;
      if (governor.decides(operation)) {
        return { count, decide: (call) => governor.decide(call, turn) };
      }
      const isSealed = door !== "rest" && caller.keyId !== null;
      const leave = isSealed && use ? admission.ahead(use) : undefined;
      if (!leave) return { count };
      return { count, leave, recordCounted: (act) => recordCounted(platform.sealer, act, turn) };
    },
    context: (call) => Object.assign(Object.create(platform), call),
    record: recorder(platform.sealer),
  }));
}

/** What decides on this platform's calls. */
function governorOf(platform: Platform): Governor {
  const { store, sealer, meter, engine, config: { settings } } = platform;
  return openGovernor({
    ...{ store, sealer, meter, engine },
    environment: settings.SEALOOP_ENVIRONMENT,
    lasting: async (operation, input) =>
      await (operation as Operation<Platform>).resolveStableInput?.(input, platform),
    async ask({ approvalId, ...question }, within) {
      await askPeople(platform, {
        ...{ ...question, id: approvalId, ticketId: null, askingRun: null },
        expiresInSeconds: settings.SEALOOP_APPROVAL_EXPIRES_SECONDS,
        escalateAfterSeconds: settings.SEALOOP_APPROVAL_ESCALATE_SECONDS,
      }, within);
    },
  });
}

/** The gates of the tool server's requests that call no operation, such as opening a session. */
export interface Entrance {
  /**
   * Who is it? Answers from memory for a key that was seen before.
   *
   * @throws {Problem} `Unauthenticated`: there is no key, or it is unknown, revoked or expired; `Forbidden`: it may
   * approve
   */
  authenticate(credential: string | undefined, address: string): Promise<Caller>;
  /** Counts one request of the key's minute. @throws {Problem} `RateLimited` */
  admit(caller: Caller): Promise<Allowance>;
  /** Seals what was no call of an operation, and how it ended. @returns id of the receipt */
  record(action: Action): Promise<string>;
}

/** The entrance of this platform's tool server; it counts in the same minute as the calls of tools. */
export function createEntrance({ keyring, meter, sealer, config }: Platform): Entrance {
  const identify = authentication(keyring);
  return {
    async authenticate(credential, address) {
      if (credential === undefined) {
        throw new Problem(
          "Unauthenticated",
          "The tool server needs an API key: send Authorization: Bearer <key>",
        );
      }
      const caller = await identify({ credential, address });
      if (caller.mayApprove) throw approverKey();
      return caller;
    },
    admit: toolAdmission(meter, config.settings),
    record: (action) => sealAction(sealer, action),
  };
}
