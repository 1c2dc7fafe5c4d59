import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 collect garbage before it asks for more memory: content goes through this process as
 * buffers that are soon garbage. Imported first, as the other modules make garbage too.
 */
setFlagsFromString('--optimize-for-size');
