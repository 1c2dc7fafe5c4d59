import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  type Clock,
  hasCode,
  type Logger,
  type ObjectClient,
  type ObjectFollower,
  type ObjectKey,
} from '../cluster.ts';
import { decodeSecret, encodeSecret, secretResource } from './certificate-secret.ts';
import { type CertificateState, renewCertificates } from './certificate-state.ts';
import { createLevelLoop } from './level-loop.ts';

export interface CertificateRotationOptions {
  readonly client: ObjectClient;
  readonly follower: ObjectFollower;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The Secret through which replicas and restarts share the certificates. */
  readonly secret: ObjectKey;
  /** DNS names and IP addresses that the serving certificate is for. */
  readonly hosts: readonly string[];
}

export interface CertificateRotation {
  /** The certificates as they stand, made or renewed where that is due. */
  ensure(signal: AbortSignal): Promise<CertificateState>;
  /**
   * Keeps the Secret renewed and calls `onChange` whenever it holds something new, until the
   * signal is aborted. Sends no request but the watch while nothing is due.
   */
  run(onChange: (state: CertificateState) => void, signal: AbortSignal): Promise<void>;
}

/** A look at the clock; costs no request. */
const checkEveryMs = 10 * 60_000;

const maxConflicts = 10;

const loopName = 'renewal of serving certificates';

/** Certificates of our own, in a Secret. Replicas agree by the Secret's resourceVersion. */
export function createCertificateRotation(
  options: CertificateRotationOptions,
): CertificateRotation {
  const { clock, follower, secret: key, hosts } = options;
  let current: CertificateState | undefined;

  async function ensure(signal: AbortSignal): Promise<CertificateState> {
    for (let attempt = 0; attempt < maxConflicts; attempt += 1) {
      const secret = await readSecret(options, signal);
      const stored = decodeSecret(secret);
      // A Secret that was deleted or damaged is put back as we know it: clients trust that CA.
      const state = await renewCertificates(stored ?? current, hosts, clock.now());
      if (state === stored || (await writeSecret(options, { secret, state, signal }))) {
        current = state;
        return state;
      }
    }
    throw new Error(
      `the Secret ${key.namespace}/${key.name} was changed by others ${maxConflicts} times in a row`,
    );
  }

  async function run(
    onChange: (state: CertificateState) => void,
    signal: AbortSignal,
  ): Promise<void> {
    let seen: KubernetesObject | undefined;
    let told: CertificateState | undefined;
    const step = async (stepSignal: AbortSignal) => {
      const stored = decodeSecret(seen);
      const isUpToDate =
        stored !== undefined && (await renewCertificates(stored, hosts, clock.now())) === stored;
      current = isUpToDate ? stored : await ensure(stepSignal);
      if (isDeepStrictEqual(current, told)) return;
      told = current;
      onChange(current);
    };
    const { logger } = options;
    const loop = createLevelLoop({ name: loopName, every: checkEveryMs, step, clock, logger });
    const onSecret = (secret: KubernetesObject | undefined) => {
      seen = secret;
      loop.wake();
    };
    await Promise.all([
      follower.follow({ resource: secretResource, key }, onSecret, signal),
      loop.run(signal),
    ]);
  }

  return { ensure, run };
}

async function readSecret(
  { client, secret: key }: CertificateRotationOptions,
  signal: AbortSignal,
): Promise<KubernetesObject | undefined> {
  const secret = await client.get(secretResource, key, signal).catch((error: unknown) => {
    if (hasCode(error, 404)) return undefined;
    throw error;
  });
  if (secret?.metadata.annotations?.['cert-manager.io/certificate-name'] === undefined) {
    return secret;
  }
  throw new Error(
    `the Secret ${key.namespace}/${key.name} belongs to cert-manager: mount it and name the folder by --cert-dir, or delete its Certificate and the Secret`,
  );
}

interface SecretWrite {
  /** The live Secret, where there is one. */
  readonly secret: KubernetesObject | undefined;
  readonly state: CertificateState;
  readonly signal: AbortSignal;
}

/** Resolves to false where someone else has written in between. */
async function writeSecret(
  { client, secret: key, logger }: CertificateRotationOptions,
  { secret, state, signal }: SecretWrite,
): Promise<boolean> {
  const object = encodeSecret(key, state, secret);
  try {
    if (secret === undefined) await client.create(secretResource, object, signal);
    else await client.update(secretResource, object, signal);
  } catch (error) {
    if (hasCode(error, 409)) return false;
    throw error;
  }
  logger.info({ secret: `${key.namespace}/${key.name}` }, 'serving certificates were renewed');
  return true;
}
