import { governanceFileSchema } from "../calls/governance/mod.ts";
import { modelFileSchema } from "../operations/models/use/mod.ts";
import { peopleFileSchema } from "../operations/people/mod.ts";
import type { JsonSchema } from "../contract/mod.ts";
import { commsFileSchema } from "../integrations/channels/mod.ts";
import { detectorsFileSchema, servicesFileSchema } from "../judgement/detection/mod.ts";
import { shieldFileSchema } from "../judgement/shield/mod.ts";

/** Schemas of the files that users write, by the names under which they are published. */
export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  services: servicesFileSchema(),
  detectors: detectorsFileSchema(),
  governance: governanceFileSchema(),
  comms: commsFileSchema(),
  shield: shieldFileSchema(),
  models: modelFileSchema(),
  people: peopleFileSchema(),
};
