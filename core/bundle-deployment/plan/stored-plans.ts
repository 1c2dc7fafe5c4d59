import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { parseJson, stringifyJson } from '../../../api/json.ts';
import { fieldAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  isNotFound,
  type KubeClient,
  liveObject,
  secretResource,
} from '../../platform/kube/index.ts';
import { type FullPlan, fullPlanSchema } from './full-plan.ts';

const fieldManager = 'rukpak-core';

interface StoredPlansOptions {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'delete'>;
  readonly systemNamespace: string;
}

/**
 * Full plans, stored in the cluster, so that every replica serves them and a restart loses none.
 */
export class StoredPlans {
  readonly #options: StoredPlansOptions;

  constructor(options: StoredPlansOptions) {
    this.#options = options;
  }

  async write(deployment: BundleDeployment, plan: FullPlan, signal: AbortSignal): Promise<void> {
    const { client, systemNamespace } = this.#options;
    const secret = await planSecret(deployment, plan, systemNamespace);
    await client.apply(secretResource, secret, { fieldManager, force: true, signal });
  }

  /** The plan as JSON; undefined when there is none. */
  async read(deployment: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const { client } = this.#options;
    const target = { resource: secretResource, key: this.#keyOf(deployment) };
    const secret = await liveObject(client, target, signal);
    return secret === undefined ? undefined : await planJson(secret);
  }

  /** Deletes the plan; a Secret of its name that is none is somebody else's. */
  async remove(deployment: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const key = this.#keyOf(deployment);
    const secret = await liveObject(client, { resource: secretResource, key }, signal);
    if (secret?.['type'] !== planType) return;
    const { uid = '' } = secret.metadata;
    try {
      await client.delete(secretResource, key, { uid, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #keyOf(deployment: string): { readonly namespace: string; readonly name: string } {
    return { namespace: this.#options.systemNamespace, name: planSecretName(deployment) };
  }
}

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Maximum compressed size: an object may have 1 MiB, including metadata and base64. */
const maxBytes = 640 * 1024;
/** Maximum size before compression: a page that a browser can still show. */
const maxLength = 8 * 1024 * 1024;

const maxName = 253;
const dataKey = 'plan.json.gz';
const planType = 'core.rukpak.io/plan';

/** `rukpak-plan-<name>`; with a digest instead of a name that would be too long. */
export function planSecretName(deployment: string): string {
  const name = `rukpak-plan-${deployment}`;
  if (name.length <= maxName) return name;
  return `rukpak-plan-${createHash('sha256').update(deployment).digest('hex')}`;
}

/**
 * The Secret that stores a plan for all replicas; the garbage collector deletes it with the
 * deployment. It has no owner label, because it is not content. A plan that is too long loses its
 * last changes.
 */
export async function planSecret(
  { apiVersion, kind, metadata }: BundleDeployment,
  plan: FullPlan,
  namespace: string,
): Promise<KubernetesObject> {
  const { name = '', uid = '' } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: planSecretName(name),
      namespace,
      ownerReferences: [{ apiVersion, kind, name, uid }],
    },
    type: planType,
    data: { [dataKey]: (await fittingBytes(plan)).toString('base64') },
  };
}

async function fittingBytes(plan: FullPlan): Promise<Buffer> {
  let fitting = withinLength(plan);
  for (;;) {
    const bytes = await compress(stringifyJson(fitting));
    if (bytes.length <= maxBytes || fitting.changes.length === 0) return bytes;
    fitting = firstChanges(fitting, Math.floor(fitting.changes.length / 2));
  }
}

function withinLength(plan: FullPlan): FullPlan {
  let length = 0;
  const beyond = plan.changes.findIndex((change) => {
    length += stringifyJson(change).length;
    return length > maxLength;
  });
  return beyond === -1 ? plan : firstChanges(plan, beyond);
}

function firstChanges(plan: FullPlan, count: number): FullPlan {
  return { ...plan, changes: plan.changes.slice(0, count), truncated: true };
}

/** The plan in a Secret as JSON; undefined for a Secret without a plan. */
export async function planJson(secret: KubernetesObject): Promise<Buffer | undefined> {
  const data = fieldAt(secret, 'data', dataKey);
  if (typeof data !== 'string') return undefined;
  return await decompress(Buffer.from(data, 'base64'), { maxOutputLength: 4 * maxLength });
}

/** @throws Error when the text is not a plan. */
export function parsePlan(json: string): FullPlan {
  return fullPlanSchema.parse(parseJson(json));
}
