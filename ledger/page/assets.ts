import { type Asset, loadAssets } from "../../runtime/web/mod.ts";

const NAMES = ["app", "worker", "page", "icon"] as const;

/** The files that pages load. */
export type Assets = Readonly<Record<typeof NAMES[number], Asset>>;

/** Reads the files that the build has made. @throws {Error} there are none */
export const loadPageAssets = (): Assets => loadAssets("ledger/page", "/assets/", NAMES);
