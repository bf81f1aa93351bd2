/** Reads PetShop: metrics of a distributed application, with injected faults whose root is known. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Dependencies } from "../../judgement/detection/mod.ts";

/** Values of a component in a window of five minutes; null: there was none. */
export interface Sample {
  /** Mean seconds of a request. */
  readonly latency: number | null;
  readonly requests: number | null;
  /** Percent of the requests that were answered. */
  readonly availability: number | null;
}

/** Metrics over consecutive windows. */
interface Metrics {
  /** Unix time of each window, in seconds. */
  readonly times: readonly number[];
  /** Component → a sample a window. */
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
}

/** An injected fault. */
export interface Issue {
  readonly metrics: Metrics;
  /** What people noticed. */
  readonly noticed: {
    readonly component: string;
    readonly metric: "latency" | "availability";
    readonly time: number;
  };
  /** Component that it was injected into. */
  readonly root: string;
  /** Constants may be chosen on `train` alone. */
  readonly split: "train" | "test";
}

/** Issues under one kind of traffic. */
export interface Traffic {
  readonly name: string;
  readonly dependencies: Dependencies;
  /** Metrics without an issue. */
  readonly past: Metrics;
  readonly issues: readonly Issue[];
}

interface Target {
  readonly target: {
    readonly node: string;
    readonly metric: "latency" | "availability";
    readonly timestamp: number;
  };
  readonly root_cause: { readonly node: string };
}

const SPLITS = ["train", "test"] as const;
/** Metric → the statistic of it that is read. */
const STATISTICS = { latency: "Average", requests: "Sum", availability: "Average" } as const;

/** Reads all kinds of traffic that have issues. */
export function readPetshop(folder: string): Traffic[] {
  return readdirSync(folder).sort().flatMap((name) => {
    const at = join(folder, name);
    if (!existsSync(join(at, "noissue", "metrics.csv"))) return [];
    const issues = SPLITS.flatMap((split) =>
      readdirSync(join(at, split)).sort().map((issue) => readIssue(join(at, split, issue), split))
    );
    return [{
      name,
      dependencies: readDependencies(join(at, "graph.csv")),
      past: readMetrics(join(at, "noissue")),
      issues,
    }];
  });
}

function readIssue(folder: string, split: Issue["split"]): Issue {
  const text = readFileSync(join(folder, "target.json"), "utf8");
  const { target: { node, metric, timestamp }, root_cause } = JSON.parse(text) as Target;
  return {
    metrics: readMetrics(folder),
    noticed: { component: node, metric, time: timestamp },
    root: root_cause.node,
    split,
  };
}

/** Reads the calls: each row calls the columns that are marked. */
function readDependencies(path: string): Dependencies {
  const [[, ...columns], ...rows] = readTable(path) as [string[], ...string[][]];
  const dependsOn = new Map(rows.map(([name, ...marks]) => [
    name!,
    columns.filter((_, i) => Number(marks[i]) > 0),
  ]));
  return { dependsOn, hosts: new Map() };
}

/** Reads metrics. The first three rows name the component, the metric and the statistic of each column. */
function readMetrics(folder: string): Metrics {
  const [names, metrics, statistics, , ...rows] = readTable(join(folder, "metrics.csv"));
  const columns = new Map(names!.map((name, i) => [`${name} ${metrics![i]} ${statistics![i]}`, i]));
  const samples = new Map([...new Set(names!.slice(1))].map((name) => {
    const read = (row: readonly string[], metric: keyof typeof STATISTICS) => {
      const text = row[columns.get(`${name} ${metric} ${STATISTICS[metric]}`) ?? -1];
      return text ? Number(text) : null;
    };
    return [
      name,
      rows.map((row): Sample => ({
        latency: read(row, "latency"),
        requests: read(row, "requests"),
        availability: read(row, "availability"),
      })),
    ];
  }));
  return { times: rows.map(([time]) => Number(time)), samples };
}

/** No field of these files is quoted. */
function readTable(path: string): string[][] {
  return readFileSync(path, "utf8").trim().split(/\r?\n/).map((line) => line.split(","));
}
