import type { BinaryName, Version } from './catalogue.ts';

/** Hosts of official binaries; tests replace them. */
export interface ReleaseHosts {
  readonly kubernetes: string;
  readonly githubApi: string;
}

export const OFFICIAL_HOSTS: ReleaseHosts = {
  kubernetes: 'https://dl.k8s.io',
  githubApi: 'https://api.github.com',
};

export interface Platform {
  /** Go's name: linux, darwin. */
  readonly os: string;
  /** Go's name: amd64, arm64. */
  readonly arch: string;
}

/** A published file with its checksum in a separate file. */
export interface FileRelease {
  readonly kind: 'file';
  readonly url: string;
  readonly checksumUrl: string;
}

/** An asset of a GitHub release; the release's description contains its checksum. */
export interface AssetRelease {
  readonly kind: 'asset';
  readonly releaseUrl: string;
  readonly asset: string;
  /** The binary's path in an archive; undefined when the asset is the binary. */
  readonly member?: string;
}

export type Release = FileRelease | AssetRelease;

export interface ReleaseQuery {
  readonly version: Version;
  readonly platform: Platform;
  readonly hosts: ReleaseHosts;
}

function kubernetesFile(name: BinaryName, query: ReleaseQuery): Release | undefined {
  const { os, arch } = query.platform;
  if (os !== 'linux' && name !== 'kubectl') return undefined;
  const url = `${query.hosts.kubernetes}/release/v${query.version.join('.')}/bin/${os}/${arch}/${name}`;
  return { kind: 'file', url, checksumUrl: `${url}.sha256` };
}

function githubAsset(
  repository: string,
  query: ReleaseQuery,
  asset: { asset: string; member?: string },
): Release | undefined {
  // For other systems there are other archives, or none.
  if (query.platform.os !== 'linux') return undefined;
  const tag = `v${query.version.join('.')}`;
  const releaseUrl = `${query.hosts.githubApi}/repos/${repository}/releases/tags/${tag}`;
  return { kind: 'asset', releaseUrl, ...asset };
}

type Publisher = (query: ReleaseQuery) => Release | undefined;

const kubernetes =
  (name: BinaryName): Publisher =>
  (query) =>
    kubernetesFile(name, query);

const PUBLISHERS: Readonly<Record<BinaryName, Publisher>> = {
  etcd: (query) => {
    const folder = `etcd-v${query.version.join('.')}-linux-${query.platform.arch}`;
    const asset = { asset: `${folder}.tar.gz`, member: `${folder}/etcd` };
    return githubAsset('etcd-io/etcd', query, asset);
  },
  kwok: (query) =>
    githubAsset('kubernetes-sigs/kwok', query, { asset: `kwok-linux-${query.platform.arch}` }),
  registry: (query) => {
    const asset = `registry_${query.version.join('.')}_linux_${query.platform.arch}.tar.gz`;
    return githubAsset('distribution/distribution', query, { asset, member: 'registry' });
  },
  'kube-apiserver': kubernetes('kube-apiserver'),
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  'kube-scheduler': kubernetes('kube-scheduler'),
  kubectl: kubernetes('kubectl'),
};

/** The official release of this binary; undefined when none is published for the platform. */
export function releaseOf(name: BinaryName, query: ReleaseQuery): Release | undefined {
  return PUBLISHERS[name](query);
}
