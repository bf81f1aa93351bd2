/**
 * Services and the edges between them.
 *
 * ```ts
 * const impact = await getImpact(db, "postgres", IMPACT_DEPTH);
 * ```
 * @module
 */
export {
  getPublicService,
  MAX_GAP_MS,
  type ObservedPeriod,
  recordObservations,
  replacePublicNames,
} from "./public_services.ts";
export {
  type Dependency,
  EDGE_KINDS,
  type EdgeKind,
  findPath,
  getImpact,
  getServiceGraph,
  IMPACT_DEPTH,
  listReached,
  type RelatedService,
  type ServiceEdge,
} from "./service_graph.ts";
export { findServices, getCmdbSummary, type ServiceMatch } from "./service_search.ts";
export {
  type DeclaredPort,
  getService,
  isAtPlace,
  listDeclaredServices,
  type ListedService,
  listServiceNames,
  listServicesOfPlaces,
  listServicesWithPorts,
  listTestServiceNames,
  listWatchedServices,
  lockServices,
  putDiscoveredServices,
  putService,
  putServices,
  recordProbeResults,
  removeService,
  replaceServices,
  type ServiceRecord,
  type ServiceWithPorts,
} from "./services.ts";
