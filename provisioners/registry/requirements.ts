import type { ClusterFacts } from '../../core/sdk.ts';
import type { RequiredApi } from './bundle/cluster-service-version.ts';
import { objectName } from './bundle/objects.ts';
import type { RegistryBundle } from './bundle/registry-bundle.ts';
import type { Installation } from './installation.ts';

/**
 * The requirements of a bundle that the cluster does not meet yet; undefined without any, when no
 * cluster is known, and when the deployment has the same content installed. Pure.
 */
export function lackOf(
  bundle: RegistryBundle,
  { cluster, installed }: Installation,
): string | undefined {
  if (cluster === undefined || installed === true) return undefined;
  return lackOfVersion(bundle, cluster) ?? lackOfKinds(bundle, cluster);
}

/**
 * `spec.minKubeVersion`, compared as in OLM: a cluster's own suffix (`-eks-1234`) does not count,
 * so the release also meets a prerelease (`1.19.0-0`). Missing parts are zeros.
 */
function lackOfVersion({ csv }: RegistryBundle, { version }: ClusterFacts): string | undefined {
  const { minKubeVersion } = csv;
  if (minKubeVersion === '') return undefined;
  const needed = parse(minKubeVersion);
  if (needed === undefined) {
    return `spec.minKubeVersion "${minKubeVersion}" of the ClusterServiceVersion is not a Kubernetes version: use one such as 1.25.0, or remove it`;
  }
  const present = parse(version);
  if (present === undefined || !isLater(needed, present)) return undefined;
  return `the operator needs Kubernetes ${minKubeVersion} or later (spec.minKubeVersion), and the cluster has ${version}: upgrade the cluster, or install an earlier version of the operator`;
}

type Version = readonly [number, number, number];

const pattern = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:[-+][0-9A-Za-z.+-]*)?$/;

function parse(text: string): Version | undefined {
  const [, major, minor = '0', patch = '0'] = pattern.exec(text.trim()) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

function isLater(a: Version, b: Version): boolean {
  const [major, minor, patch] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  return (major || minor || patch) > 0;
}

/**
 * The kinds that the operator requires from others, as in OLM: CRDs, aggregated APIs and native
 * ones; without those of the bundle itself.
 */
function lackOfKinds(bundle: RegistryBundle, { apiVersions }: ClusterFacts): string | undefined {
  const served = new Set(apiVersions);
  const missing = [...neededCrds(bundle), ...neededApis(bundle)].filter(
    (needed) => !served.has(idOf(needed)),
  );
  if (missing.length === 0) return undefined;
  const them = missing.length === 1 ? 'it' : 'them';
  const names = [...new Set(missing.map((needed) => described(needed, apiVersions)))];
  return `the operator needs APIs that the cluster does not serve: ${names.join(', ')}: install what provides ${them}, and core continues by itself`;
}

interface NeededKind extends RequiredApi {
  /** Name of the CRD, if it is one. */
  readonly crd?: string;
}

function neededCrds({ csv, crds }: RegistryBundle): readonly NeededKind[] {
  const own = new Set(crds.map(objectName));
  return csv.requiredCrds
    .filter(({ name }) => !own.has(name))
    .map(({ name, version, kind }) => {
      const group = name.slice(name.indexOf('.') + 1);
      return { group, version, kind, crd: name };
    });
}

function neededApis({ csv }: RegistryBundle): readonly NeededKind[] {
  const own = new Set(csv.ownedApiServices.map(idOf));
  return csv.requiredApis.filter((api) => !own.has(idOf(api)));
}

/** The kind's name in ClusterFacts. */
function idOf({ group, version, kind }: RequiredApi): string {
  const id = kind === '' ? version : `${version}/${kind}`;
  return group === '' ? id : `${group}/${id}`;
}

function described(needed: NeededKind, apiVersions: ClusterFacts['apiVersions']): string {
  const { group, version, kind, crd } = needed;
  if (crd === undefined) return idOf(needed);
  const others = apiVersions.flatMap((id) => {
    const [ofGroup, other, ofKind] = id.split('/');
    return ofGroup === group && ofKind === kind ? [other] : [];
  });
  const has = others.length === 0 ? '' : `, which is served as ${others.join(', ')}`;
  return `CustomResourceDefinition ${crd} with version ${version}${has}`;
}
