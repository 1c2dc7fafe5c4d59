import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 free the memory of buffers when it collects them: else a thread of its own does so, later, and
 * while the processor is busy a program that copies much holds what it no longer needs. Imported first.
 */
setFlagsFromString('--no-concurrent-array-buffer-sweeping');
