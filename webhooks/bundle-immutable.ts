import { isDeepStrictEqual } from 'node:util';
import type {
  BundleSource,
  BundleSpec,
  ConfigMapSource,
  GitSource,
  HTTPSource,
  ImageSource,
} from '../api/v1alpha1/bundle.ts';

/**
 * Whether two specs mean the same: an absent field equals its empty value, as in RukPak's decoded
 * types, but a source block that is absent differs from one that is empty.
 */
export function isSameSpec(a: BundleSpec, b: BundleSpec): boolean {
  return isDeepStrictEqual(canonicalSpec(a), canonicalSpec(b));
}

function canonicalSpec({ provisionerClassName, source }: BundleSpec): object {
  return { provisionerClassName, source: canonicalSource(source) };
}

function canonicalSource(source: BundleSource): object {
  const { type, image, git, configMaps, upload, http, parameters } = source;
  return {
    type,
    image: image && canonicalImage(image),
    git: git && canonicalGit(git),
    configMaps: (configMaps ?? []).map(canonicalConfigMap),
    upload: upload && {},
    http: http && canonicalHttp(http),
    parameters,
  };
}

function canonicalImage({ ref, pullSecret = '' }: ImageSource): object {
  return { ref, pullSecret };
}

function canonicalGit({ repository, ref, directory = '', auth }: GitSource): object {
  const { branch = '', commit = '', tag = '' } = ref;
  return { repository, ref: { branch, commit, tag }, directory, auth: canonicalAuth(auth) };
}

function canonicalConfigMap({ configMap, path = '' }: ConfigMapSource): object {
  return { name: configMap.name ?? '', path };
}

function canonicalHttp({ url, checksum = '', auth }: HTTPSource): object {
  return { url, checksum, auth: canonicalAuth(auth) };
}

function canonicalAuth(auth: HTTPSource['auth']): object {
  return { secret: auth?.secret?.name ?? '', insecure: auth?.insecureSkipVerify ?? false };
}
