import type { Client } from "@temporalio/client";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { type Call, createInvoke, defineOperation, type Invoke } from "../contract/mod.ts";
import type { ChainWatch, Sealer } from "../ledger/mod.ts";
import type { Meter, Store } from "../store/mod.ts";
import { admission } from "./_admission.ts";
import { authentication, type Keyring } from "./_authentication.ts";
import { recorder } from "./_record.ts";

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
  /** Temporal, connected on first use. @throws {Problem} `Unavailable` while it is away */
  temporal(): Promise<Client>;
  /** Public addresses without a slash at the end, for links in answers. */
  readonly urls: { readonly gateway: string; readonly ledger: string };
}

/** Describes an operation of this platform; see `contract/`. */
export const operation: ReturnType<typeof defineOperation<Platform>> = defineOperation<Platform>();

/** What an operation's `run` gets. */
export type Context = Platform & Call;

/** The one way in, with this platform's gates. Every door is given what this gives. */
export function createPlatformInvoke(platform: Platform): Invoke<Platform> {
  return createInvoke<Platform>({
    authenticate: authentication(platform.keyring),
    admit: admission(platform.meter, platform.config.settings),
    govern: () => Promise.resolve(), // the policies come with the governance engine
    context: (call) => Object.assign(Object.create(platform), call),
    record: recorder(platform.sealer),
  });
}
