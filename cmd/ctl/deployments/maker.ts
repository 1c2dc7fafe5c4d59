import type { OwnerReference } from '../../../api/meta.ts';
import { clusterExtensionResource } from '../../../api/olm/v1/index.ts';
import { operatorResource } from '../../../api/operators/v1alpha1/index.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { TerminalError } from '../../../core/errors.ts';

/**
 * For a deletion: the controller of the deployment would install everything again, without its data.
 * @throws TerminalError with the command that deletes both
 */
export function checkNotMadeAgain({ metadata }: BundleDeployment): void {
  const maker = makerOf(metadata);
  if (maker === undefined) return;
  const { kind, name, type, isOfOperators } = maker;
  const command = isOfOperators
    ? `rukpakctl operator uninstall ${kind.toLowerCase()}/${name}`
    : `kubectl delete ${type} ${name}`;
  throw new TerminalError(
    `nothing is deleted: ${kind} "${name}" has made BundleDeployment "${metadata.name}", and would make it again; "${command}" deletes both`,
  );
}

/**
 * For a change of the template: the controller of the deployment would set it back.
 * @throws TerminalError with what changes it
 */
export function checkOwnTemplate({ metadata }: BundleDeployment): void {
  const maker = makerOf(metadata);
  if (maker === undefined) return;
  const { kind, name, isOfOperators } = maker;
  const way = isOfOperators
    ? `"rukpakctl operator upgrade ${kind.toLowerCase()}/${name} --to VERSION --force" installs an earlier version`
    : `change ${kind} "${name}" instead`;
  throw new TerminalError(
    `nothing is changed: ${kind} "${name}" has made BundleDeployment "${metadata.name}", and would set spec.template back; ${way}`,
  );
}

interface Maker extends Pick<OwnerReference, 'kind' | 'name'> {
  /** For kubectl. */
  readonly type: string;
  readonly isOfOperators: boolean;
}

function makerOf({ ownerReferences = [] }: BundleDeployment['metadata']): Maker | undefined {
  const reference = ownerReferences.find(({ controller }) => controller === true);
  if (reference === undefined) return undefined;
  const { apiVersion, kind, name } = reference;
  const [group = ''] = apiVersion.split('/');
  const isOfOperators = [operatorResource, clusterExtensionResource].some(
    (each) => each.kind === kind && each.group === group,
  );
  return { kind, name, type: `${kind.toLowerCase()}.${group}`, isOfOperators };
}
