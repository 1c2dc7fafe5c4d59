import type { Bundle, BundleSource } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { ServiceAccountRef } from '../../api/v1alpha1/deployment-policies.ts';
import { annotation, label } from '../../api/v1alpha1/labels.ts';
import { generatedFor, isMadeFrom, isOwn } from '../../api/v1alpha1/rules/generated-bundle.ts';
import { templateHash } from '../../api/v1alpha1/rules/template-hash.ts';
import { readsSecrets, type SourceReader, type SourceTypes } from '../bundle/index.ts';
import { WaitingError } from '../errors.ts';
import { isRevision } from './revisions/history.ts';
import { believed } from './revisions/noted-status.ts';

/** Value of the mark for core's own permissions. */
const core = '';

/** The value of annotation `source-reader` for a deployment's Bundles. */
function readerName(account: ServiceAccountRef | undefined): string {
  return account === undefined ? core : `${account.namespace}/${account.name}`;
}

/**
 * With whose permissions core reads the Secrets of a Bundle's source. Everybody who may create
 * Bundles can write an owner and labels, so an account reads only for a Bundle that matches the
 * deployment's template or a revision of it. Core reads for a deployment's Bundle only if it was
 * made without an account: users with an account decide when it stops matching (ADR 38).
 */
export function sourceReader(
  bundle: Bundle,
  deployments: { get(key: { readonly name: string }): BundleDeployment | undefined },
): SourceReader {
  const name = generatedFor(bundle);
  if (name === undefined) return 'core';
  const deployment = deployments.get({ name });
  const account = deployment?.spec.serviceAccount;
  if (deployment === undefined || account === undefined) {
    return isOfCore(bundle, deployment) ? 'core' : nobody(name, deployment);
  }
  const isAsked = isOwn(bundle, deployment) && isOfTemplate(bundle, deployment);
  return isAsked ? account : nobody(name, deployment);
}

/**
 * Whether a Bundle is of a deployment without an account. One of an earlier version of core has no
 * mark; that of an account that the deployment had may still be asked for.
 */
function isOfCore(bundle: Bundle, deployment: BundleDeployment | undefined): boolean {
  const mark = bundle.metadata.annotations?.[annotation.sourceReader];
  if (mark === core) return true;
  if (deployment === undefined || !isOwn(bundle, deployment)) return false;
  return mark === undefined || isOfTemplate(bundle, deployment);
}

function isOfTemplate(bundle: Bundle, deployment: BundleDeployment): boolean {
  const { status = {}, spec } = believed(deployment);
  const { name, labels = {} } = bundle.metadata;
  if (isMadeFrom(bundle, deployment, templateHash(spec.template))) return true;
  const isNamed = name === status.activeBundle || isRevision(bundle, status);
  return isNamed && isMadeFrom(bundle, deployment, labels[label.templateHash] ?? '');
}

function nobody(name: string, deployment: BundleDeployment | undefined): WaitingError {
  const [problem, remedy] =
    deployment === undefined
      ? ['does not exist', 'create the BundleDeployment again']
      : [
          'names this Bundle neither in its template nor in its status',
          'restore the template, or resume the BundleDeployment if it is paused',
        ];
  return new WaitingError(
    `BundleDeployment "${name}" ${problem}, so core cannot tell which Secrets this Bundle may use: ${remedy}, or delete the Bundle`,
  );
}

/**
 * The mark of a deployment's own Bundle; undefined when nothing depends on it. It stays that of
 * core: otherwise an account could adopt content that core has fetched.
 */
export function readerMark(
  { metadata, spec: { source } }: Bundle,
  { spec }: BundleDeployment,
  sources: SourceTypes,
): string | undefined {
  if (!isPrivate(source, sources)) return undefined;
  const isCores = metadata.annotations?.[annotation.sourceReader] === core;
  return isCores ? core : readerName(spec.serviceAccount);
}

/**
 * Refuses the Bundle of an earlier deployment of the name if its content is more than the
 * deployment's ServiceAccount may read.
 * @throws Error that names the Bundle
 */
export function checkMayUse(
  bundle: Bundle,
  deployment: BundleDeployment,
  { sources }: { readonly sources: SourceTypes },
): void {
  const { serviceAccount: account } = deployment.spec;
  if (account === undefined || isOwn(bundle, deployment)) return;
  if (!isPrivate(bundle.spec.source, sources)) return;
  const { name, annotations } = bundle.metadata;
  if (annotations?.[annotation.sourceReader] === readerName(account)) return;
  throw new Error(
    `Bundle "${name}" is of an earlier BundleDeployment and was fetched with Secrets or an upload that ServiceAccount "${readerName(account)}" may not have: delete it, and core fetches the content again`,
  );
}

/** Whether the content depends on more than the spec, and may not be for everyone. */
function isPrivate(source: BundleSource, sources: SourceTypes): boolean {
  return source.type === 'upload' || readsSecrets(source, sources);
}
