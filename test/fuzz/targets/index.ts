import type { FuzzTarget } from '../fuzz-target.ts';
import { gzip } from './archives/gzip.ts';
import { imageLayers } from './archives/image-layers.ts';
import { tar } from './archives/tar.ts';
import { uploads } from './archives/uploads.ts';
import { zstd } from './archives/zstd.ts';
import { catalogRequests } from './catalogs/catalog-requests.ts';
import { comparedCatalogs } from './catalogs/compared-catalogs.ts';
import { constraints } from './catalogs/constraints.ts';
import { versionRanges } from './catalogs/version-ranges.ts';
import { admissionReviews } from './cluster/admission-reviews.ts';
import { healthRules } from './cluster/health-rules.ts';
import { kubeconfig } from './cluster/kubeconfig.ts';
import { workerMessages } from './cluster/worker-messages.ts';
import { knownHosts } from './git/known-hosts.ts';
import { packs } from './git/packs.ts';
import { pktLines } from './git/pkt-lines.ts';
import { privateKeys } from './git/private-keys.ts';
import { repositoryAddresses } from './git/repository-addresses.ts';
import { bundleChecks } from './manifests/bundle-checks.ts';
import { json } from './manifests/json.ts';
import { manifestFiles } from './manifests/manifest-files.ts';
import { registryBundles } from './manifests/registry-bundles.ts';
import { yaml } from './manifests/yaml.ts';
import { dockerConfig } from './registry/docker-config.ts';
import { imageManifests } from './registry/image-manifests.ts';
import { imagePolicies } from './registry/image-policies.ts';
import { imageReferences } from './registry/image-references.ts';
import { registriesConf } from './registry/registries-conf.ts';

/** This module, for a process that runs one of them. */
export const targetsModule = import.meta.url;

export const targets: readonly FuzzTarget[] = [
  yaml,
  json,
  manifestFiles,
  registryBundles,
  bundleChecks,
  comparedCatalogs,
  catalogRequests,
  constraints,
  versionRanges,
  tar,
  gzip,
  zstd,
  imageLayers,
  uploads,
  imageManifests,
  imageReferences,
  dockerConfig,
  registriesConf,
  imagePolicies,
  packs,
  pktLines,
  knownHosts,
  privateKeys,
  repositoryAddresses,
  kubeconfig,
  healthRules,
  admissionReviews,
  workerMessages,
];
