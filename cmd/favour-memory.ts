import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 collect garbage before it asks for much more memory: the old generation grows by a fifth
 * from one collection to the next, the young one stays as large as the start has made it. Cheaper
 * than --optimize-for-size, which took a third of all processor time (docs/benchmarks). Imported
 * first, as the other modules make garbage too.
 */
setFlagsFromString('--heap-growing-percent=20');
setFlagsFromString('--semi-space-growth-factor=1');
