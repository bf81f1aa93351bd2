import type { NumberedObservation } from "../../contract/domain/mod.ts";
import type { ObservedFacts } from "../runbooks/mod.ts";

/** A file system that is fuller has no room. */
const FULL_PERCENT = 97;
/** A clock that is off by less is right. */
const MIN_OFFSET_SECONDS = 60;

/** Returns what a runbook may know of what was observed. The same observations give the same facts. */
export function factsOf(observations: readonly NumberedObservation[]): ObservedFacts {
  const figuresOf = (source: NumberedObservation["source"]) =>
    observations.filter((one) => one.source === source).map(({ figures = {} }) => figures);
  const port = figuresOf("port").find((one) => typeof one.port === "number")?.port;
  const process = figuresOf("process").find(({ pid }) => typeof pid === "number")?.pid;
  const full = figuresOf("storage")
    .filter(({ path, fullest_percent }) =>
      typeof path === "string" && Number(fullest_percent) >= FULL_PERCENT
    )
    .sort((a, b) => Number(b.fullest_percent) - Number(a.fullest_percent))[0]?.path;
  const offset = Math.abs(
    Number(figuresOf("check").find((one) => one.clock_offset_s !== undefined)?.clock_offset_s ?? 0),
  );
  const failing = figuresOf("dependencies").find(({ down, late }) => down ?? late);
  return {
    ...(typeof port === "number" ? { own_port: port } : {}),
    ...(typeof process === "number" ? { process } : {}),
    ...(typeof full === "string" ? { full_folder: full } : {}),
    ...(offset > MIN_OFFSET_SECONDS ? { clock_offset: Math.round(offset) } : {}),
    ...(typeof failing?.of === "string" ? { dependency: failing.of } : {}),
    ...(typeof failing?.address === "string" ? { dependency_address: failing.address } : {}),
  };
}
