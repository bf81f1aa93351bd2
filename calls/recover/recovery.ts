import type { LostCall, Recovery } from "../../contract/mod.ts";
import type { Platform } from "../platform.ts";
import { recoverRun } from "./runs.ts";

/** Finds what a lost call did. @throws {Problem} that can't be found out at the moment */
export async function recoverCall(
  platform: Platform,
  { operation, ...call }: LostCall & { readonly operation: string },
): Promise<Recovery> {
  const durability = platform.operations.get(operation)?.durability;
  if (durability?.commits) return { state: "not_done" }; // else its end would have been stored with it
  if (durability?.recover) return await durability.recover(call, platform);
  if (durability?.startsRun) return await recoverRun(platform, call, durability);
  return { state: "unknown" };
}
