import { readFile } from 'node:fs/promises';
import type { KubernetesObject } from '../../api/meta.ts';
import type { Logger } from '../contracts/logger.ts';
import { errorMessage } from '../errors.ts';
import type { ClientAuthorities } from '../platform/certificates/index.ts';
import type { Clock } from '../platform/clock.ts';
import { configMapResource, type KubeClient, Reflector } from '../platform/kube/index.ts';

export interface FollowOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** ConfigMap in which the API server publishes its client CAs. */
const published = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
const publishedKey = 'client-ca-file';
const interval = 10_000;

/** Keeps the CAs equal to the cluster's own until the signal is aborted (default: none). */
export async function followCluster(
  authorities: ClientAuthorities,
  options: FollowOptions,
): Promise<void> {
  const take = (configMap: KubernetesObject | undefined): void => {
    const { [publishedKey]: pem } = (configMap?.['data'] ?? {}) as Record<string, string>;
    trySet(authorities, pem, options.logger);
  };
  const reflector = new Reflector({
    ...options,
    resource: configMapResource,
    namespace: published.namespace,
    fieldSelector: `metadata.name=${published.name}`,
    sink: {
      replace: ([configMap]) => take(configMap),
      upsert: take,
      remove: () => take(undefined),
    },
  });
  await reflector.run(options.signal);
}

/** @throws Error of one sentence when the file is unusable. */
export async function readAuthorities(authorities: ClientAuthorities, file: string): Promise<void> {
  try {
    authorities.set(await readFile(file, 'utf8'));
  } catch (error) {
    throw new Error(`cannot use --client-ca-file "${file}": ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/**
 * Keeps the CAs equal to a file until the signal is aborted.
 * @throws Error of one sentence when the file is unusable at the start.
 */
export async function followFile(
  authorities: ClientAuthorities,
  file: string,
  { clock, logger, signal }: Omit<FollowOptions, 'client'>,
): Promise<void> {
  await readAuthorities(authorities, file);
  while (!signal.aborted) {
    await clock.sleep(interval, signal).catch(() => undefined);
    const pem = await readFile(file, 'utf8').catch(() => authorities.pem);
    trySet(authorities, pem, logger);
  }
}

function trySet(authorities: ClientAuthorities, pem: string | undefined, logger: Logger): void {
  try {
    authorities.set(pem);
  } catch (error) {
    logger.warn({ error: errorMessage(error) }, 'client CA not taken up');
  }
}
