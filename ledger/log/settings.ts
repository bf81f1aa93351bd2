import { join } from "node:path";
import { BadSetting, type Config } from "../../config.ts";
import { formatVerifierKey, parseVerifierKey } from "./note.ts";
import type { Witness } from "./witness.ts";

/** Settings of the log: its identity, and its files outside of the database. */
export interface LogSettings {
  /** PEM file of the key that signs checkpoints; created where there is none. */
  readonly keyFile: string;
  /** File that holds the newest signed checkpoint. */
  readonly checkpointFile: string;
  /** Name of the log in its checkpoints: an address without scheme. */
  readonly origin: string;
  readonly witnesses: readonly Witness[];
  /** Number of witnesses without whose cosignatures no checkpoint is published. */
  readonly witnessQuorum: number;
}

/** Returns the path of the newest checkpoint that was signed. */
export const checkpointPath = (folder: string): string => join(folder, "checkpoint");

/** Reads the log's settings from the configuration. @throws {BadSetting} witnesses or quorum are not valid */
export function readLogSettings({ dataDir, settings }: Config): LogSettings {
  const { SEALOOP_LEDGER_ORIGIN, SEALOOP_LEDGER_URL } = settings;
  const witnesses = readWitnesses(settings.SEALOOP_WITNESSES ?? "");
  const witnessQuorum = settings.SEALOOP_WITNESS_QUORUM;
  if (witnessQuorum > witnesses.length) {
    throw new BadSetting(
      `SEALOOP_WITNESS_QUORUM is ${witnessQuorum}, and SEALOOP_WITNESSES names ${witnesses.length}: ` +
        "no checkpoint would ever be published",
    );
  }
  return {
    keyFile: join(dataDir, "checkpoint.key"),
    checkpointFile: checkpointPath(dataDir),
    origin: SEALOOP_LEDGER_ORIGIN ??
      SEALOOP_LEDGER_URL?.replace(/^https?:\/\//, "").replace(/\/+$/, "") ?? "sealoop.localhost",
    witnesses,
    witnessQuorum,
  };
}

function readWitnesses(list: string): Witness[] {
  const witnesses = list.split(",").map((item) => item.trim()).filter(Boolean).map(parseWitness);
  const keys = new Set(witnesses.map(({ key }) => formatVerifierKey(key)));
  if (keys.size === witnesses.length) return witnesses;
  throw new BadSetting("SEALOOP_WITNESSES: names a witness twice, which would count twice");
}

function parseWitness(item: string): Witness {
  const [key = "", url = "", ...more] = item.split(/\s+/);
  try {
    const { protocol } = new URL(url);
    if (more.length > 0 || !/^https?:$/.test(protocol)) throw new Error("expected a key and a URL");
    return { key: parseVerifierKey(key), url: url.replace(/\/+$/, "") };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BadSetting(`SEALOOP_WITNESSES: cannot use "${item}": ${why}`, { cause });
  }
}
