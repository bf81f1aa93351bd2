/** Writes the vectors of opened evidence anew: `node start.mjs test/ledger/opened/write_vectors.ts`. */
import { writeFileSync } from "node:fs";
import { makeCases } from "./_cases.ts";
import { PINNED, PINNED_OTHER } from "./_make.ts";
import { VECTORS_FILE } from "./_vectors.ts";

const trust = { pinned: PINNED, another: PINNED_OTHER };
const cases = makeCases();
const lines = cases.map((one) => `    ${JSON.stringify(one)}`).join(",\n");
writeFileSync(VECTORS_FILE, `{"trust": ${JSON.stringify(trust)},\n  "cases": [\n${lines}\n  ]}\n`);
console.log(`${cases.length} files in ${VECTORS_FILE}`);
