import { Registry } from "prom-client";

/** All metrics of this process. */
export const registry = new Registry();

/** Called before the metrics are read. */
export const refreshes: (() => Promise<void>)[] = [];
