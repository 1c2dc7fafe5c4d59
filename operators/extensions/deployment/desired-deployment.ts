import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment, BundleDeploymentSpec } from '../../../api/v1alpha1/index.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { Bundle } from '../../../resolver/candidates/index.ts';
import type { DeploymentSettings, Extension } from '../extension.ts';
import { type BundleRecord, writeRecord } from './bundle-record.ts';
import { activeBundle, earlierBundles, type Installation } from './installation.ts';

const plain = 'core-rukpak-io-plain';
const registry = 'core-rukpak-io-registry';
const mediaTypeProperty = 'olm.bundle.mediatype';

/**
 * The provisioner class for a bundle of a catalog.
 * @throws Error if the catalog names a media type that no class reads.
 */
export function classOf({ name, properties }: Bundle): string {
  const types = properties.filter(({ type }) => type === mediaTypeProperty);
  const [{ value: type } = { value: '' }] = types;
  const cannot = `error determining bundle mediatype for bundle "${name}"`;
  if (types.length > 1) throw new Error(`${cannot}: it has ${types.length} such properties`);
  if (typeof type !== 'string') throw new Error(`${cannot}: the property's value is no string`);
  if (type === '' || type === 'registry+v1') return registry;
  if (type === 'plain+v0') return plain;
  throw new Error(`unknown bundle mediatype: ${type}`);
}

/** The object to apply. */
export function desiredObject(
  extension: Extension & { readonly settings: DeploymentSettings },
  installation: Installation,
  bundle: BundleRecord,
): KubernetesObject {
  const { object, id, name, settings } = extension;
  const { uid } = installation.deployment?.metadata ?? {};
  const spec = specOf(settings, bundle);
  const record = {
    of: id,
    applied: digest(spec),
    selected: bundle,
    active: activeBundle(installation),
    earlier: earlierBundles(installation, bundle.image),
  };
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: {
      name,
      // Refused if it was deleted and created by somebody else meanwhile.
      ...(uid === undefined ? {} : { uid }),
      annotations: { [annotation.selectedBundle]: writeRecord(record) },
      ownerReferences: [
        {
          apiVersion: object.apiVersion,
          kind: object.kind,
          name,
          uid: object.metadata.uid ?? '',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec,
  };
}

/**
 * Whether the live object has everything that the desired one has, and nothing that the controller
 * applied before and no longer wants. Fields of others stay.
 */
export function isApplied(live: BundleDeployment | undefined, desired: KubernetesObject): boolean {
  if (live === undefined) return false;
  const { ownerReferences = [], ...metadata } = desired.metadata;
  const owners = live.metadata.ownerReferences ?? [];
  return (
    ownerReferences.every((owner) => owners.some((each) => contains(each, owner))) &&
    contains(live, { ...desired, metadata })
  );
}

function specOf(
  settings: DeploymentSettings,
  { image, className }: BundleRecord,
): BundleDeploymentSpec {
  const { installNamespace, serviceAccount, progressDeadline, rollbackDeadline } = settings;
  const { deletionPolicy } = settings;
  const config = configOf(settings, className);
  return {
    provisionerClassName: plain,
    template: {
      spec: { provisionerClassName: className, source: { type: 'image', image: { ref: image } } },
    },
    ...(config === undefined ? {} : { config }),
    ...(installNamespace === undefined ? {} : { installNamespace }),
    ...(serviceAccount === undefined || installNamespace === undefined
      ? {}
      : { serviceAccount: { namespace: installNamespace, name: serviceAccount } }),
    ...(progressDeadline === undefined ? {} : { health: { progressDeadline } }),
    ...(rollbackDeadline === undefined ? {} : { rollback: { deadline: rollbackDeadline } }),
    ...(deletionPolicy === undefined ? {} : { deletionPolicy }),
  };
}

/** Only class registry reads the namespace from the config. */
function configOf(
  { installNamespace, config, skipsCrdUpgradeSafety }: DeploymentSettings,
  className: string,
): Readonly<Record<string, unknown>> | undefined {
  if (className !== registry) return config;
  const added = {
    ...(installNamespace === undefined ? {} : { installNamespace }),
    ...(skipsCrdUpgradeSafety === true ? { crdUpgradeSafety: 'None' } : {}),
  };
  if (config === undefined && Object.keys(added).length === 0) return undefined;
  return { ...config, ...added };
}

function digest(spec: BundleDeploymentSpec): string {
  return createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 32);
}

function contains(live: unknown, desired: unknown): boolean {
  if (!isMap(desired)) return isDeepStrictEqual(live, desired);
  if (!isMap(live)) return false;
  return Object.entries(desired).every(
    ([key, value]) => Object.hasOwn(live, key) && contains(live[key], value),
  );
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
