export { type Break, type Check, type Checks, type Era, type Place, type Primitives, findTrustedKey, type TrustedKey, type Verdict, verifyRecord } from "./rules.ts";
export { type Hash, hashLeaf, hashNode, computeInclusionRoot, computeRoot, type Sha256 } from "./tree.ts";
export { type LeafSource, formatLeaf, formatLeafOfHash } from "./leaf.ts";
export { canonicalizeFields, canonicalizeText, canonicalizeItems, canonicalize, canonicalizeValues, joinFields, NotCanonical } from "./canonical.ts";
export { type FollowResult, followRecord, readLink, parseFields, findPlaceAfter, readPosition } from "./follow.ts";
