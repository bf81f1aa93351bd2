import type { DetectorSettings } from "./settings.ts";

/** How long a service's past is judged by, and how. */
export type Damping = Pick<
  DetectorSettings["service_probes"],
  "flapping" | "slow_looks" | "failures"
>;

/** What a look gave: up, up but slow, down. */
export type LookResult = "u" | "s" | "d";

/** What the last looks at a service say of it. */
export interface Judgement {
  readonly looks: string;
  readonly flapping: boolean;
  /** `down` does not count before it has been seen often enough. */
  readonly state: "up" | "slow" | "down" | "flapping";
  readonly counts: boolean;
}

/**
 * Judges a service by its last looks, this one included.
 *
 * One that goes up and down is `flapping` from a share of changes among its looks on, until the share has fallen below
 * a lower one: so it is one fault for all that time, and not one for each time that it goes down.
 *
 * @param before the looks so far, oldest first
 */
export function judge(
  before: { readonly looks: string; readonly flapping: boolean },
  now: LookResult,
  { flapping: { looks: kept, begins, ends }, slow_looks, failures }: Damping,
): Judgement {
  const looks = (before.looks + now).slice(-kept);
  const changes =
    [...looks].filter((look, i) => i > 0 && (look === "d") !== (looks[i - 1] === "d")).length;
  const share = changes / (kept - 1); // of a full history, so that a young one isn't hasty
  const flapping = before.flapping ? share > ends : share >= begins;
  const state = flapping
    ? "flapping"
    : now === "d"
    ? "down"
    : tail(looks, "s") >= slow_looks
    ? "slow"
    : "up";
  return { looks, flapping, state, counts: state !== "down" || tail(looks, "d") >= failures };
}

/** How many of the last looks in a row are this. */
function tail(looks: string, look: LookResult): number {
  return looks.length - looks.replace(new RegExp(`${look}+$`), "").length;
}
