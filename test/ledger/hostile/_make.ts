/** Makes the vectors of honest and hostile servers. */
import { addFalseCheckpoints, addFalseCosignatures } from "./_attacks_on_checkpoints.ts";
import { addFalseKeys, addFalseSuccession, addUnsigned } from "./_attacks_on_keys.ts";
import { addAltered, addAmbiguous, addEarlierEras, addMissing } from "./_attacks_on_receipts.ts";
import {
  type AddServer,
  chains as plainChains,
  checkpoint,
  IMPORTED,
  named,
  NO_LOG,
  own,
  rotatedKeys,
  type Server,
  trust,
} from "./_genuine.ts";
import { falseActs, placed } from "./_places.ts";
import type { Vectors } from "./_vectors.ts";

const chains = { ...plainChains, placed };
const PLACED = { chain: "placed", trust: "keys", ...NO_LOG };

function addHonest(add: AddServer): void {
  add(0, "the genuine ledger", undefined);
  add(0, "one that has grown since its checkpoint", undefined, {
    checkpoint: checkpoint(own.slice(0, 10)),
  });
  add(0, "one that names neither keys nor log, as both are pinned", undefined, { named: {} });
  add(0, "one that began with eras that prove less", undefined, IMPORTED);
  add(0, "one whose key was rotated, to somebody who knows the first", undefined, {
    chain: "rotated",
    trust: "keys",
    named: { ...named, keys: rotatedKeys },
  });
  add(0, "one with acts of two places", undefined, PLACED);
}

function addFalseActs(add: AddServer): void {
  for (const [name, reason, texts] of falseActs()) add(1, name, reason, { ...PLACED, texts });
}

/** Makes all vectors. */
export function makeVectors(): Vectors {
  const servers: Server[] = [];
  const add: AddServer = (exit, name, reason, changes = {}) => {
    const { texts, chain = "own", ...more } = changes;
    const genuine = (chains as Vectors["chains"])[chain]!;
    const shown = texts ?? genuine;
    servers.push({
      name,
      chain,
      trust: "all",
      exit,
      ...(reason === undefined ? {} : { reason }),
      named,
      checkpoint: checkpoint(genuine),
      total: shown.length,
      records: shown.map((text) => genuine.includes(text) ? genuine.indexOf(text) : text),
      ...more,
    });
  };
  addHonest(add);
  addFalseKeys(add);
  addFalseSuccession(add);
  addUnsigned(add);
  addMissing(add);
  addAmbiguous(add);
  addAltered(add);
  addEarlierEras(add);
  addFalseCheckpoints(add);
  addFalseCosignatures(add);
  addFalseActs(add);
  return { chains, trust, servers };
}

/** Prints vectors as the file has them. */
export const printVectors = (vectors: Vectors): string =>
  `${JSON.stringify(vectors, undefined, 1)}\n`;
