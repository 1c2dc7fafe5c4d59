import { inject } from 'vitest';

/** One local control plane, with its registry. */
export interface ControlPlane {
  /** File of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** `host:port` of the OCI registry, plain HTTP. */
  readonly registry: string;
  /** The cluster's folder; `audit.log` in it has a line per API request. */
  readonly clusterDir: string;
  /** Path of kubectl. */
  readonly kubectl: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** One for each worker. */
    readonly controlPlanes: readonly ControlPlane[];
  }
}

function planeOfWorker(): ControlPlane {
  const worker = process.env['VITEST_POOL_ID'];
  const found = inject('controlPlanes')[Number(worker) - 1];
  if (found === undefined) throw new Error(`there is no control plane for worker ${worker}`);
  return found;
}

/** The control plane of this worker: no other test file uses it meanwhile. */
export const plane = planeOfWorker();
