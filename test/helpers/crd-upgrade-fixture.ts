import type { KubernetesObject } from '../../api/meta.ts';
import type { JsonSchema } from '../../api/object-schema/index.ts';
import { ApiError } from '../../core/platform/kube/index.ts';
import { crdUpgradeValidator } from '../../webhooks/crd-upgrade/crd-validators.ts';
import type { ObjectLister } from '../../webhooks/crd-upgrade/custom-resources.ts';
import type { AdmissionRequest, AdmissionVerdict } from '../../webhooks/review.ts';
import { silentLogger } from './silent-logger.ts';

interface Version {
  readonly name: string;
  readonly served?: boolean;
  readonly spec?: JsonSchema;
}

/** What all of it is about. */
export const crdName = 'widgets.example.com';

/** Stored in the first of its versions. */
export function aWidgetCrd(
  versions: readonly Version[],
  more: { spec?: object; metadata?: object } = {},
) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: crdName, ...more.metadata },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', listKind: 'WidgetList' },
      versions: versions.map(({ name, served = true, spec = { type: 'object' } }) => ({
        name,
        served,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      })),
      ...more.spec,
    },
    status: { storedVersions: versions.slice(0, 1).map((version) => version.name) },
  };
}

export function aWidget(spec: object, metadata: object = { name: 'w', namespace: 'ns' }) {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata, spec };
}

/** One CRD and its objects: lists them in pages, and notes what it was asked for. */
export class WidgetCluster implements ObjectLister {
  readonly asked: { version: string; limit: number; continue: string | undefined }[] = [];
  readonly #live: KubernetesObject | undefined;
  readonly #objects: readonly KubernetesObject[];

  constructor(live: object | undefined, objects: readonly object[] = []) {
    this.#live = live as KubernetesObject | undefined;
    this.#objects = objects as readonly KubernetesObject[];
  }

  async get(): Promise<KubernetesObject> {
    if (this.#live === undefined) throw new ApiError(404, { message: 'not found' });
    return this.#live;
  }

  async list(
    { version }: Parameters<ObjectLister['list']>[0],
    { limit, continue: token }: Parameters<ObjectLister['list']>[1],
  ): ReturnType<ObjectLister['list']> {
    this.asked.push({ version, limit, continue: token });
    const start = Number(token ?? 0);
    const end = start + limit;
    const metadata = end < this.#objects.length ? { continue: String(end) } : {};
    return { metadata, items: this.#objects.slice(start, end) };
  }
}

/** The verdict on a CRD as it is to become. */
export async function judgeCrd(
  client: WidgetCluster,
  object: unknown,
  {
    signal = new AbortController().signal,
    ...request
  }: Partial<AdmissionRequest> & {
    signal?: AbortSignal;
  } = {},
): Promise<AdmissionVerdict> {
  const validate = crdUpgradeValidator({ client, logger: silentLogger });
  return await validate(
    { uid: 'u', operation: 'UPDATE', name: crdName, object, ...request },
    signal,
  );
}

export function unsafe(cause: string, operation = 'UPDATE'): AdmissionVerdict {
  const reason = `failed to validate safety of ${operation} for CRD "widgets.example.com" (NOTE: to disable this validation, set the "core.rukpak.io/safe-crd-upgrade-validation" annotation to "false"): ${cause}`;
  return { allowed: false, status: { code: 403, reason } };
}

export const invalidPrefix = `error validating existing CRs against new CRD's schema for "widgets.example.com": `;
/** Makes a field required. */
export const requiredSpec: JsonSchema = {
  type: 'object',
  required: ['a'],
  properties: { a: { type: 'string' } },
};
