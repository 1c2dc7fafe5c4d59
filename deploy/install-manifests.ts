import { existsSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import type { KubernetesObject } from '../api/meta.ts';
import { moveToNamespace } from './move-to-namespace.ts';
import { callWebhooksAt } from './webhook-url.ts';

export interface InstallOptions {
  /**
   * URL at which the API server reaches the webhooks, such as https://127.0.0.1:9443 (default: the
   * Service).
   */
  readonly webhookUrl?: string;
  /** Default: rukpak-system. */
  readonly systemNamespace?: string;
  /** Include the webhook that reviews deletions of BundleDeployments' CRDs. */
  readonly guardCrdDeletion?: boolean;
  /** Include the kinds of OLM 1.0, and the permissions of their process. */
  readonly operators?: boolean;
  /** Include the permissions of that process for --install-dependencies; needs `operators`. */
  readonly installDependencies?: boolean;
}

/**
 * The objects that a cluster needs before the processes run anywhere, in the order to apply them:
 * CRDs, the system namespaces, accounts and roles, and the webhook configurations. Read from the
 * same files that kustomize renders.
 * @throws Error when webhookUrl is not an https URL.
 */
export function installManifests(options: InstallOptions = {}): readonly KubernetesObject[] {
  const { webhookUrl, systemNamespace = 'rukpak-system' } = options;
  const { guardCrdDeletion = false, operators = false, installDependencies = false } = options;
  const installed = [
    ...files,
    ...(guardCrdDeletion ? [guardFile] : []),
    ...(operators ? operatorFiles : []),
    ...(operators && installDependencies ? [dependenciesFile] : []),
  ];
  return readFrom(installed, systemNamespace).map((object) =>
    webhookUrl === undefined ? object : callWebhooksAt(object, webhookUrl),
  );
}

/** All objects of `rukpak install` and of the overlays, in the order of an installation. */
export function everyManifest(systemNamespace: string): readonly KubernetesObject[] {
  const every = [...files, guardFile, ...operatorFiles, dependenciesFile, ...overlayFiles];
  return readFrom(every, systemNamespace);
}

function readFrom(from: readonly string[], systemNamespace: string): readonly KubernetesObject[] {
  return from.flatMap(readManifests).map((object) => moveToNamespace(object, systemNamespace));
}

const files = [
  'crds/core.rukpak.io_bundles.yaml',
  'crds/core.rukpak.io_bundledeployments.yaml',
  'base/namespace.yaml',
  'base/bundle-roles.yaml',
  'base/metrics-role.yaml',
  'base/core/rbac.yaml',
  'base/webhooks/rbac.yaml',
  'base/webhooks/mutating-webhook-configuration.yaml',
  'base/webhooks/webhook-configuration.yaml',
  'base/crdvalidator/namespace.yaml',
  'base/crdvalidator/rbac.yaml',
  'base/crdvalidator/webhook-configuration.yaml',
];

const guardFile = 'components/guard-crd-deletion/webhook-configuration.yaml';

const operatorFiles = [
  'operators/crds/catalogd.operatorframework.io_catalogs.yaml',
  'operators/crds/operators.operatorframework.io_operators.yaml',
  'operators/crds/olm.operatorframework.io_clustercatalogs.yaml',
  'operators/crds/olm.operatorframework.io_clusterextensions.yaml',
  'operators/rbac.yaml',
];

const dependenciesFile = 'components/install-dependencies/rbac.yaml';

/** Additional files of the overlays. */
const overlayFiles = [
  'overlays/self-signed/rbac.yaml',
  'overlays/self-signed/crdvalidator-rbac.yaml',
  'overlays/cert-manager/issuers.yaml',
  'overlays/cert-manager/certificates.yaml',
  'overlays/split/uploads-namespace.yaml',
  'overlays/split/unpack-rbac.yaml',
  'overlays/split/apply-certificate-rbac.yaml',
  'overlays/split/apply-service.yaml',
  'overlays/split/apply-pod-disruption-budget.yaml',
  'overlays/split/apply-deployment.yaml',
  'overlays/impersonation/core-rbac.yaml',
  'components/operators/certificate-rbac.yaml',
  'components/operators-cert-manager/certificate.yaml',
  'operators/service.yaml',
  'operators/pod-disruption-budget.yaml',
  'operators/deployment.yaml',
  'components/network-policies/rukpak-system.yaml',
  'components/network-policies/crdvalidator-system.yaml',
  'base/core/service.yaml',
  'base/core/pod-disruption-budget.yaml',
  'base/core/deployment.yaml',
  'base/webhooks/service.yaml',
  'base/webhooks/deployment.yaml',
  'base/webhooks/pod-disruption-budget.yaml',
  'base/crdvalidator/service.yaml',
  'base/crdvalidator/deployment.yaml',
  'base/crdvalidator/pod-disruption-budget.yaml',
];

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

/** What has been read: it takes a tenth of a second of processor time, and does not change. */
const manifests = new Map<string, readonly KubernetesObject[]>();

function readManifests(file: string): readonly KubernetesObject[] {
  const known = manifests.get(file);
  if (known !== undefined) return known;
  const documents = parseAllDocuments(readFileSync(new URL(file, manifestFolder()), 'utf8'));
  const read = documents.map((each) => manifestSchema.parse(each.toJS()) as KubernetesObject);
  manifests.set(file, read);
  return read;
}

/** The compiled program is in dist/deploy, the YAML files are in deploy. */
function manifestFolder(): URL {
  const beside = new URL('./', import.meta.url);
  return existsSync(new URL('base/', beside)) ? beside : new URL('../../deploy/', beside);
}
