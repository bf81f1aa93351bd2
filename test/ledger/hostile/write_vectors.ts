/** Writes the vectors of hostile servers anew: `node start.mjs test/ledger/hostile/write_vectors.ts`. */
import { writeFileSync } from "node:fs";
import { makeVectors, printVectors } from "./_make.ts";
import { VECTORS_FILE } from "./_vectors.ts";

const vectors = makeVectors();
writeFileSync(VECTORS_FILE, printVectors(vectors));
console.log(`${vectors.servers.length} servers in ${VECTORS_FILE}`);
