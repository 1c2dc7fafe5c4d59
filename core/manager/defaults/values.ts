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
