import { totalmem } from 'node:os';
import type { ContentOptions } from '../options.ts';

/** Where a process in a pod keeps content and serves it, as in v0.16. */
export const defaultContent = {
  directory: '/var/cache/bundles',
  bindAddress: ':8080',
  externalAddress: 'http://localhost:8080',
  contentServers: [],
} as const satisfies ContentOptions;

/** As in v0.16. */
export const defaultHealthProbeBindAddress = ':8081';

export const defaultWorkers = 8;

const gibibyte = 1024 ** 3;

/**
 * Bytes: half of what the container may take, for the other half has the process itself, its caches
 * and what it renders. Without a bound as much as deploy/ has.
 */
export function defaultMemoryBudget(bound = process.constrainedMemory()): number {
  return bound > 0 && bound < totalmem() ? Math.floor(bound / 2) : gibibyte;
}
