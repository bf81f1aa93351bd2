/** Trains the classifier and stores it in the cache, so that no process waits for that. */
import { openClassifier } from "./classifier.ts";

await openClassifier();
