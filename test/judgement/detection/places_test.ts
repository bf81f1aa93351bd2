import assert from "node:assert/strict";
import { ANY_PLACE } from "../../../contract/domain/mod.ts";
import {
  detectAll,
  type DetectedFinding,
  joinIncidents,
  openDetectionContext,
} from "../../../judgement/detection/mod.ts";
import { putServices } from "../../../store/cmdb/mod.ts";
import { getFindings } from "../../../store/incidents/mod.ts";
import { reportPlace } from "../../../store/platform/mod.ts";
import { freePort } from "../../_run.ts";
import { createTestContext, type TestContext } from "./_context.ts";

const PLACES = ["n1", "n2", "n3"] as const;
type Place = typeof PLACES[number];

describe("faults of three places, each with a service at the same address of its own", () => {
  let context: TestContext;
  before(async () => {
    context = await createTestContext(
      "service_probes: {}\nhost_resources: { every_disk: false, load_per_core: 1000, memory_percent: 100 }",
    );
    for (const place of PLACES) await reportPlace(context.store.asPlatform(), place);
  });
  after(() => context?.close());

  /** Puts a service at each place, and what it needs. */
  async function put(needs: Partial<Record<Place, readonly string[]>> = {}): Promise<void> {
    const check = { http: `http://127.0.0.1:${await freePort()}/health` };
    await putServices(
      context.store.asPlatform(),
      PLACES.map((place) => ({
        name: `shop-${place}`,
        type: "web",
        host: "localhost",
        atPlace: place,
        declaredAt: place,
        owner: null,
        origin: "file",
        check,
        restart: null,
        watched: true,
        dependsOn: (needs[place] ?? []).map((service) => ({ service, kind: "depends_on" })),
      })),
    );
  }

  /** Runs the detectors of a place as its own worker does. */
  async function sweep(place: Place, more: Partial<TestContext> = {}) {
    const { store, temporal, timeoutMs, settings } = { ...context, ...more };
    const config = { ...context.config, place };
    const places = place === "n1" ? [place, ANY_PLACE, ""] : [place];
    const opened = openDetectionContext({ config, store, temporal, places });
    const { incidents } = await detectAll({ ...opened, settings, timeoutMs }, { save: true });
    return incidents;
  }

  /** Returns the roots, each with what it causes, by service or host. */
  async function join(found: readonly DetectedFinding[]) {
    const joined = await joinIncidents(context.store, found, "n1");
    const records = await getFindings(
      context.store.db,
      found.flatMap((one) => [one, ...one.related ?? []]).map(({ fingerprint }) => fingerprint),
    );
    const nameOf = (fingerprint: string) => {
      const { service, code, host } = records.get(fingerprint)!;
      return service ?? `${code} of ${host}`;
    };
    return Object.fromEntries(
      joined.map(({ fingerprint, related = [], place }) => [
        `${nameOf(fingerprint)} at ${place}`,
        related.map((one) => nameOf(one.fingerprint)),
      ]),
    );
  }
  const sweepAll = async (more: Partial<TestContext> = {}) => {
    const found: DetectedFinding[] = [];
    for (const place of PLACES) found.push(...await sweep(place, more));
    return found;
  };

  it("are three incidents, whatever they are called", async () => {
    await put();
    const found = await sweepAll();
    assert.equal(new Set(found.map(({ fingerprint }) => fingerprint)).size, 3);
    assert.deepEqual(await join(found), {
      "shop-n1 at n1": [],
      "shop-n2 at n2": [],
      "shop-n3 at n3": [],
    });
  });

  it("are one incident where a service needs another place's, at the place of the root", async () => {
    await put({ n1: ["shop-n2"] });
    const found = await sweepAll();
    assert.equal(found.length, 3, "each place alone knows its own");
    assert.deepEqual(await join(found), { "shop-n2 at n2": ["shop-n1"], "shop-n3 at n3": [] });
    const { severity } = (await joinIncidents(context.store, found, "n1"))
      .find(({ service }) => service === "shop-n2")!;
    assert.equal(severity, "critical");
    const n1 = found.find(({ service }) => service === "shop-n1")!;
    const n2 = found.find(({ service }) => service === "shop-n2")!;
    const roots = await getFindings(context.store.db, [n1.fingerprint]);
    assert.equal(roots.get(n1.fingerprint)!.root, n2.fingerprint);
  });

  it("are one incident of a cycle through all places", async () => {
    await put({ n1: ["shop-n2"], n2: ["shop-n3"], n3: ["shop-n1"] });
    const related = Object.values(await join(await sweepAll()));
    assert.deepEqual(related.map(({ length }) => length), [2]);
  });

  it("go with the full disk of their own host, which three hosts have of the same path", async () => {
    await put({ n1: ["shop-n2"] });
    const disk = await context.with(
      "service_probes: {}\n" +
        `host_resources: { disks: [{ path: "${context.folder}", max_bytes: 1 }], every_disk: false, ` +
        "load_per_core: 1000, memory_percent: 100 }",
    );
    const found = await sweepAll({ settings: disk.settings });
    assert.deepEqual(await join(found), {
      "disk_full of n1 at n1": [],
      "disk_full of n2 at n2": ["shop-n2", "shop-n1"],
      "disk_full of n3 at n3": ["shop-n3"],
    });
  });
});
