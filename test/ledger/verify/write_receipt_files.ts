/** Writes the vectors of files anew: `node start.mjs test/ledger/verify/write_receipt_files.ts`. */
import { writeFileSync } from "node:fs";
import { FILE_VECTORS, makeFileVectors } from "./_receipt_files.ts";

const vectors = makeFileVectors();
writeFileSync(FILE_VECTORS, `${JSON.stringify(vectors, undefined, 1)}\n`);
console.log(`${vectors.files.length} files in ${FILE_VECTORS}`);
