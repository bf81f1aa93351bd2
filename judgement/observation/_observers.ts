import { type ObserverName, OBSERVERS } from "../../contract/domain/mod.ts";
import { certificate } from "./certificate.ts";
import { changes } from "./changes.ts";
import { check } from "./check.ts";
import { container } from "./container.ts";
import { dependencies } from "./dependencies.ts";
import { device } from "./device.ts";
import { log } from "./log.ts";
import { names } from "./names.ts";
import type { Observer, Subject } from "./observer.ts";
import { output } from "./output.ts";
import { port } from "./port.ts";
import { processOfService } from "./process.ts";
import { storage } from "./storage.ts";
import { unit } from "./unit.ts";

const BY_NAME: Readonly<Record<ObserverName, Observer>> = {
  check,
  output,
  log,
  process: processOfService,
  port,
  storage,
  names,
  certificate,
  dependencies,
  changes,
  unit,
  container,
  device,
};

/** Returns the source of a name. */
export function observerOf(name: ObserverName): Observer {
  return BY_NAME[name];
}

/**
 * Returns the sources that may see something of a fault: those that read only this host and the platform's records
 * together, each other one by itself.
 */
export function chooseObservers(subject: Subject): ObserverName[][] {
  const all = OBSERVERS.filter((name) => BY_NAME[name].applies(subject));
  const near = all.filter((name) => BY_NAME[name].isNear);
  const apart = all.filter((name) => !BY_NAME[name].isNear).map((name) => [name]);
  return near.length > 0 ? [near, ...apart] : apart;
}

/** Lists the sources with what each looks at. */
export function describeObservers(): { readonly source: ObserverName; readonly about: string }[] {
  return OBSERVERS.map((source) => ({ source, about: BY_NAME[source].about }));
}
