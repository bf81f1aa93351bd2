/** Runs the checks alone: `npm run check`. */
import { check } from "./check.ts";

process.exitCode = (await check()).length;
