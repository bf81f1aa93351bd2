/** Aspects of devices that may be wrong, whichever detector looks at them. */
import type { Severity, Text } from "../../contract/domain/mod.ts";

/** Something of a device that may be wrong. */
export interface DeviceAspect {
  /** The same one is the same fault. */
  readonly name: string;
  readonly state: "right" | "wrong" | "unknown";
  readonly code: string;
  readonly severity: Severity;
  readonly summary: Text;
  readonly detail: Readonly<Record<string, unknown>>;
  /** The script that mends it; absent or null: there is none. */
  readonly remedy?: DeviceRemedy | null;
}

/** A script of the catalogue that mends a fault. */
export interface DeviceRemedy {
  readonly script: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The aspects of one device. */
export interface DeviceAspects {
  readonly device: NamedDevice;
  readonly aspects: readonly DeviceAspect[];
  /** Beginnings of the names of further aspects, of which nothing is known at the moment. */
  readonly unknownPrefixes: readonly string[];
  /** Code of an aspect that is not among them any more. */
  readonly absentCode: "gone" | "ok";
}

interface NamedDevice {
  readonly id: string;
  readonly name: string;
}

/** Returns a device as people are told of it. */
export function nameDevice({ name, id }: NamedDevice): string {
  return `${name} (${id})`;
}
