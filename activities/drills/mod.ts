/**
 * Activities of drills: small real services that are broken or attacked on purpose, and removed afterwards.
 *
 * ```ts
 * const { prepareTestService, breakTestService } = testServiceActivities(parts);
 * const { service } = await prepareTestService(request);
 * const finding = await breakTestService({ ...request, service });
 * ```
 *
 * @module
 */
export { sandboxActivities } from "./sandbox.ts";
export { testServiceActivities } from "./test_service.ts";
