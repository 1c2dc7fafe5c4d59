import type { JsonObject, JsonValue } from '../../../core/sdk.ts';
import { fieldOf, isMap, itemsOf } from '../bundle/objects.ts';
import { secretName, servedPorts } from '../serving.ts';
import { type StepContext, withContainers, withPodSpec } from './pod-template.ts';

/** A path where operators expect their serving certificate, and the names of its files. */
interface CertificateVolume {
  readonly name: string;
  readonly mountPath: string;
  readonly certificate: string;
  readonly key: string;
}

/** The paths of API servers and of kubebuilder's webhook servers. */
const certificateVolumes: readonly CertificateVolume[] = [
  {
    name: 'apiservice-cert',
    mountPath: '/apiserver.local.config/certificates',
    certificate: 'apiserver.crt',
    key: 'apiserver.key',
  },
  {
    name: 'webhook-cert',
    mountPath: '/tmp/k8s-webhook-server/serving-certs',
    certificate: 'tls.crt',
    key: 'tls.key',
  },
];

/**
 * Mounts the serving certificate of a deployment with webhooks or APIs, by OLM's rules: replaces a
 * volume of the same name, keeps a mount of the same name, and removes one at the same path.
 * Removes a volume that no container mounts any more, because its Secret may not exist.
 */
export function withCertificateMounts(
  spec: JsonObject,
  { bundle, deployment }: StepContext,
): JsonObject {
  if (servedPorts(bundle.csv, deployment.name).length === 0) return spec;
  const replaced = mountNames(spec);
  const mounted = withContainers(spec, (container) =>
    certificateVolumes.reduce<JsonObject>(withMount, container),
  );
  const still = mountNames(mounted);
  return withPodSpec(mounted, (podSpec) => {
    const kept = itemsOf(podSpec['volumes']).filter((volume) => {
      const name = fieldOf(volume, 'name');
      return !replaced.has(name) || still.has(name);
    });
    const secret = secretName(deployment.name);
    const volumes = certificateVolumes.map((volume) => secretVolume(volume, secret));
    return { ...podSpec, volumes: volumes.reduce<readonly JsonValue[]>(withVolume, kept) };
  });
}

function withMount(container: JsonObject, { name, mountPath }: CertificateVolume): JsonObject {
  const mounts = itemsOf(container['volumeMounts']);
  const mount = { name, mountPath };
  const at = mounts.findIndex((other) => fieldOf(other, 'name') === name || isAt(mountPath, other));
  if (at < 0) return { ...container, volumeMounts: [...mounts, mount] };
  if (fieldOf(mounts[at], 'name') === name) return container;
  return { ...container, volumeMounts: mounts.with(at, mount) };
}

function withVolume(volumes: readonly JsonValue[], volume: JsonObject): readonly JsonValue[] {
  const at = volumes.findIndex((other) => fieldOf(other, 'name') === volume['name']);
  return at < 0 ? [...volumes, volume] : volumes.with(at, volume);
}

function secretVolume({ name, certificate, key }: CertificateVolume, secret: string): JsonObject {
  const items = [
    { key: 'tls.crt', path: certificate },
    { key: 'tls.key', path: key },
  ];
  return { name, secret: { secretName: secret, items } };
}

/** Names of the volumes that any container mounts, including init containers. */
function mountNames(spec: JsonObject): ReadonlySet<JsonValue | undefined> {
  const names = new Set<JsonValue | undefined>();
  withPodSpec(spec, (podSpec) => {
    const containers = ['initContainers', 'containers'].flatMap((key) => itemsOf(podSpec[key]));
    for (const container of containers.filter(isMap)) {
      for (const mount of itemsOf(container['volumeMounts'])) names.add(fieldOf(mount, 'name'));
    }
    return podSpec;
  });
  return names;
}

function isAt(mountPath: string, mount: JsonValue): boolean {
  const path = fieldOf(mount, 'mountPath');
  if (typeof path !== 'string' || !path.startsWith(mountPath)) return false;
  // Some write the path with a slash at the end.
  return /^\/*$/.test(path.slice(mountPath.length));
}
