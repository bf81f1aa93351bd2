export { type Break, type Check, type Checks, type Era, type Place, type Primitives, trustedAt, type TrustedKey, type Verdict, verifyRecord } from "./rules.ts";
export { type Hash, leafHash, nodeHash, rootFromInclusion, rootOf, type Sha256 } from "./tree.ts";
export { type LeafOf, leafOf, leafText } from "./leaf.ts";
export { canonicalFields, canonicalFromText, canonicalItems, canonicalize, canonicalValues, joinFields, NotCanonical } from "./canonical.ts";
export { type Followed, followRecord, linkOf, parsed, placeAfter, positionOf } from "./follow.ts";
