/** Places: the machines on which the platform acts. */
import { z } from "zod";

/** Place of what every place may look at, such as a public address. */
export const ANY_PLACE = "any";

/** Schema of the name of a place. */
export const PlaceName = z.string().regex(
  /^[a-z0-9][a-z0-9.-]{0,62}$/,
  "Expected 1 to 63 lowercase letters, digits, . and -, such as db1.example.net",
).refine((name) => name !== ANY_PLACE, `Expected another name than ${ANY_PLACE}`);

/** Why an incident is left to people whose place has no worker. */
export const PLACE_AWAY = "place_away";

/** Returns the name of a host as the name of a place. */
export function placeOfHost(host: string): string {
  const name = host.toLowerCase().replace(/[^a-z0-9.-]/g, "-").replace(/^[.-]+/, "").slice(0, 63);
  return name === "" || name === ANY_PLACE ? "host" : name;
}

/** Returns the name of a place's own task queue. @param template `act` or `media` of `temporal.yaml` */
export function placeQueue(template: string, place: string): string {
  return `${template}-${place}`;
}
